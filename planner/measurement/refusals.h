// Why rows of measurements were not modelled, counted by cause.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "planner/measurement/row_prediction.h"

namespace meshwright::planner {

// Rows that were refused for one cause.
struct Refusal {
  std::string cause;  // "column: what it must be", or the name of the rule that layouts break
  bool is_rule = false;
  int64_t rows = 0;
  // What stood in the column, or what the rule says of a row, and in how many rows; the commonest
  // first.
  std::vector<std::pair<std::string, int64_t>> values;
};

// A row that holds what can't be read or what no run can have.
struct UnreadableRow {
  std::string file;
  int64_t line = 0;
  std::string reason;  // with the line
};

struct Refusals {
  std::vector<UnreadableRow> unreadable;  // in their order
  std::vector<Refusal> not_modelled;      // the cause of most rows first
};

// Rows with a prediction are passed over.
Refusals CountRefusals(absl::Span<const RowPrediction> rows);

}  // namespace meshwright::planner

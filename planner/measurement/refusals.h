// Counts, by cause, the rows of measurements that were not modelled.
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
  // The values of the column, or the sentences that say how layouts break the rule. Each value
  // comes with its number of rows; the most frequent value comes first.
  std::vector<std::pair<std::string, int64_t>> values;
};

// A row with a cell that is unreadable or has an impossible value.
struct UnreadableRow {
  std::string file;
  int64_t line = 0;
  std::string reason;  // names the line
};

struct Refusals {
  std::vector<UnreadableRow> unreadable;  // in the order of the rows
  std::vector<Refusal> not_modelled;      // the cause with the most rows comes first
};

// Returns the refusals among the rows; rows with a prediction do not count.
Refusals CountRefusals(absl::Span<const RowPrediction> rows);

}  // namespace meshwright::planner

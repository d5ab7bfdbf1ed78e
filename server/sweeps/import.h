// Runs that were measured elsewhere, as rows of a file in the CSV format of planner/measurement, on
// their way into the store.
//
// Callers may rely on: a row that is read has a model, a cluster, a training and a layout that the
// planner takes, numbers that a run can have, and an outcome; every other row is refused with its
// line. Two rows that say the same in other words of CSV (columns in another order, quotes, blanks)
// have one hash.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "db/measurement.h"

namespace meshwright::server {

inline constexpr int64_t kMostImportedRows = 20'000;

struct RefusedRow {
  int64_t line = 0;
  std::string subject;  // a column, or the rule that the layout breaks
  std::string reason;   // one sentence
};

struct ReadRuns {
  int64_t rows = 0;
  std::vector<db::NewImport> runs;  // without who imports them and when
  std::vector<RefusedRow> refused;
};

// InvalidArgument about `csv` where it is no file of this format, or has too many rows. `cancelled`
// is asked between rows, unless it is empty; Cancelled once it says so.
absl::StatusOr<ReadRuns> ReadImport(std::string_view csv, int32_t host_cores,
                                    const std::function<bool()>& cancelled);

// InvalidArgument about `csv` that names the first rows, each with its line, column and value; OK
// where there are none.
absl::Status StatusOf(const std::vector<RefusedRow>& refused);

}  // namespace meshwright::server

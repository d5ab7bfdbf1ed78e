// ReadImport() reads runs that were measured elsewhere and prepares them for the store. Each run is
// a row of a CSV file in the format of planner/measurement.
//
// Callers may rely on: an accepted row has a model, a cluster, a training and a layout that the
// planner accepts, numbers that a run can have, and an outcome. Every other row is refused and
// listed with its line. Two rows that differ only in their CSV form (column order, quotes, blanks)
// have the same hash.
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
  std::vector<db::NewImport> runs;  // who imports them, and when, is not set
  std::vector<RefusedRow> refused;
};

// Returns InvalidArgument, which names `csv`, if `csv` is not a file of this format or has too many
// rows. Calls `cancelled`, which may be empty, between rows, and returns Cancelled once `cancelled`
// returns true.
absl::StatusOr<ReadRuns> ReadImport(std::string_view csv, int32_t host_cores,
                                    const std::function<bool()>& cancelled);

// Returns InvalidArgument, which names `csv` and the first refused rows, each with its line and
// reason. Returns OK if no row was refused.
absl::Status StatusOf(const std::vector<RefusedRow>& refused);

}  // namespace meshwright::server

// Whether a database file is whole: what `meshwright db check` reports.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace meshwright {

struct StoreCheck {
  int64_t schema_version = 0;
  int64_t sweeps = 0;
  int64_t trials = 0;
  int64_t attempts = 0;
  int64_t events = 0;
  std::vector<std::string> problems;  // empty when the file is whole

  bool ok() const { return problems.empty(); }
};

// Reads the file without changing it. NotFound when there is none; FailedPrecondition when it is
// not a database, belongs to another application, has a newer schema, or has an older one that the
// server has yet to migrate.
absl::StatusOr<StoreCheck> CheckStore(const std::string& path);

}  // namespace meshwright

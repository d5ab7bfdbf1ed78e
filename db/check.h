// StoreCheck is the result of the integrity check of a database file that `meshwright db check`
// runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace meshwright::db {

struct StoreCheck {
  int64_t schema_version = 0;
  int64_t sweeps = 0;
  int64_t trials = 0;
  int64_t attempts = 0;
  int64_t events = 0;
  // Size of the write-ahead log beside the file, if the log could not be read; otherwise 0. The
  // check does not cover the changes in such a log.
  int64_t unseen_wal_bytes = 0;
  std::vector<std::string> problems;  // empty if the file is whole

  bool ok() const { return problems.empty(); }
};

// Checks the file without changing it; needs no write permission. A write-ahead log beside the file
// is checked too, if the folder's permissions let SQLite share the log with the server. Returns
// NotFound if there is no file. Returns FailedPrecondition if the file is empty, is not a database,
// belongs to another application, has a newer schema, or has an older schema that a server must
// first migrate.
absl::StatusOr<StoreCheck> CheckStore(const std::string& path);

}  // namespace meshwright::db

// Integrity check of a database file, as `meshwright db check` reports it.
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
  // Bytes of the write-ahead log beside the file, if the log could not be read. It then has the
  // newest changes, which were not checked.
  int64_t unseen_wal_bytes = 0;
  std::vector<std::string> problems;  // empty if the file is whole

  bool ok() const { return problems.empty(); }
};

// Checks the file without changing it and without needing write permission. A write-ahead log
// beside the file is checked with it, if the folder lets SQLite share the log with the server.
// Returns NotFound if there is no file. Returns FailedPrecondition if the file is empty, is not a
// database, belongs to another application, has a newer schema, or has an older one that the server
// has yet to migrate.
absl::StatusOr<StoreCheck> CheckStore(const std::string& path);

}  // namespace meshwright::db

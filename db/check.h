// Whether a database file is whole: what `meshwright db check` reports.
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
  // Of the write-ahead log beside the file, where it could not be read: the newest changes, which
  // were not looked at.
  int64_t unseen_wal_bytes = 0;
  std::vector<std::string> problems;  // empty when the file is whole

  bool ok() const { return problems.empty(); }
};

// Changes nothing, and needs no right to: a file whose server has stopped is read as it is, one
// with a write-ahead log together with that, where the folder lets SQLite share it with the server.
// NotFound when there is none; FailedPrecondition when it is not a database, belongs to another
// application, has a newer schema, or has an older one that the server has yet to migrate.
absl::StatusOr<StoreCheck> CheckStore(const std::string& path);

}  // namespace meshwright::db

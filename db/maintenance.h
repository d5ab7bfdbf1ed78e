// BackUpStore() and CompactStore() maintain a database file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace meshwright::db {

struct BackUpResult {
  int64_t bytes = 0;  // of the copy
  int64_t sweeps = 0;
};

// Copies the current contents of the database to the file `to`. A server may write to the database
// meanwhile. Only the file's owner can read the copy. The copy appears complete and synced to disk,
// or not at all, and is then checked. Returns DataLoss if the copy is damaged, NotFound if there is
// no database, AlreadyExists if `to` exists, and FailedPrecondition if the database has an older or
// newer schema.
absl::StatusOr<BackUpResult> BackUpStore(const std::string& path, const std::string& to);

struct CompactResult {
  int64_t bytes_before = 0;
  int64_t bytes_after = 0;
  int64_t events = 0;  // events deleted
  // The numbers of deleted models, trainings, clusters and profiles to which no sweep referred.
  int64_t shapes = 0;
};

// Deletes shapes (db/shapes.h) to which no sweep refers and, if `events_before` is given, events of
// sweeps that ended before that time. Then shrinks the file, which needs disk space for a second
// copy. Returns FailedPrecondition while a server uses the file, and otherwise the errors of
// BackUpStore().
absl::StatusOr<CompactResult> CompactStore(const std::string& path,
                                           std::optional<absl::Time> events_before);

}  // namespace meshwright::db

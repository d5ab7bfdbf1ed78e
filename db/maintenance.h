// Maintenance of a database file: backup and compaction.
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

// Copies what is stored at this moment to `to`, readable only by its owner, while a server may go
// on writing. The copy is complete, checked and synced to disk, or not there at all. NotFound where
// there is no database, AlreadyExists where `to` exists, FailedPrecondition where the database is
// of an older or newer version.
absl::StatusOr<BackUpResult> BackUpStore(const std::string& path, const std::string& to);

struct CompactResult {
  int64_t bytes_before = 0;
  int64_t bytes_after = 0;
  int64_t events = 0;  // deleted
  int64_t shapes = 0;  // deleted models, trainings, clusters and profiles that no sweep referred to
};

// Deletes events of sweeps that ended before `events_before`, if given, and shapes that no sweep
// refers to, and returns the file's free pages to the disk. Needs room for a second copy.
// FailedPrecondition while a server serves the file; otherwise the errors of BackUpStore().
absl::StatusOr<CompactResult> CompactStore(const std::string& path,
                                           std::optional<absl::Time> events_before);

}  // namespace meshwright::db

// What an operator does with a database file beside serving it: copying it, and giving back room.
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

// Copies what is stored at this moment to `to`, for its owner alone, while a server may go on
// writing. The copy is there whole, looked over and on the disk, or not at all. NotFound where
// there is no database, AlreadyExists where there is a file `to`, FailedPrecondition where the
// database is of an older or newer version.
absl::StatusOr<BackUpResult> BackUpStore(const std::string& path, const std::string& to);

struct CompactResult {
  int64_t bytes_before = 0;
  int64_t bytes_after = 0;
  int64_t events = 0;  // that were forgotten
  int64_t shapes = 0;  // models, trainings, clusters and profiles that no sweep had any more
};

// Forgets events of sweeps that ended before `events_before`, if it is given, and shapes that no
// sweep has, and gives the file's free pages back to the disk. Needs room for a second copy.
// FailedPrecondition while a server serves the file; otherwise as BackUpStore().
absl::StatusOr<CompactResult> CompactStore(const std::string& path,
                                           std::optional<absl::Time> events_before);

}  // namespace meshwright::db

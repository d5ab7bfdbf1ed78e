// One server at a time works on a database: two would give each trial out twice, each with leases
// of its own.
#pragma once

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "base/system/unique_fd.h"

namespace meshwright::db {

// Held for as long as the object lives, which must be longer than the store's; a process that is
// killed leaves it. Readers and `db check` need none.
class StoreLock {
 public:
  StoreLock() = default;

  // Makes an empty file, for its owner alone, where there is none. FailedPrecondition where another
  // process holds the lock, Unavailable where the file can't be opened.
  static absl::StatusOr<StoreLock> Take(const std::string& path);

 private:
  explicit StoreLock(UniqueFd file) : file_(std::move(file)) {}

  UniqueFd file_;
};

}  // namespace meshwright::db

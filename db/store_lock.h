// StoreLock ensures that one server at a time uses a database: two would assign each trial twice,
// each with leases of its own.
#pragma once

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "base/system/unique_fd.h"

namespace meshwright::db {

// Held during the object's life, which must exceed the store's; released when the process is
// killed. Readers and `db check` need none.
class StoreLock {
 public:
  StoreLock() = default;

  // Creates an empty file, for its owner only, where there is none. FailedPrecondition where
  // another process holds the lock, Unavailable where the file can't be opened.
  static absl::StatusOr<StoreLock> Take(const std::string& path);

 private:
  explicit StoreLock(UniqueFd file) : file_(std::move(file)) {}

  UniqueFd file_;
};

}  // namespace meshwright::db

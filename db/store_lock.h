// StoreLock ensures that only one server uses a database. Two servers on one database would both
// assign every trial, and each would keep leases of its own.
#pragma once

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/system/unique_fd.h"

namespace meshwright::db {

// The lock is held while the object lives, and is released even if the process is killed. Readers
// and `db check` need no lock. REQUIRES: the object outlives the store.
class StoreLock {
 public:
  StoreLock() = default;

  // Takes the lock of the database file `path`. If there is no file, creates an empty one for its
  // owner only. Returns FailedPrecondition if another process holds the lock, and Unavailable if
  // the file can't be opened.
  static absl::StatusOr<StoreLock> Take(const std::string& path);

  bool taken() const { return file_.is_open(); }

  // Returns FailedPrecondition if the path no longer leads to the locked file, because somebody
  // moved, replaced or deleted the file. The server would otherwise go on writing a file that
  // nobody opens again.
  absl::Status CheckInPlace() const;

 private:
  StoreLock(std::string path, UniqueFd file) : path_(std::move(path)), file_(std::move(file)) {}

  std::string path_;
  UniqueFd file_;
};

}  // namespace meshwright::db

#include "db/store_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace meshwright::db {

absl::StatusOr<StoreLock> StoreLock::Take(const std::string& path) {
  // flock() locks do not interact with SQLite's, which are fcntl() locks.
  UniqueFd file(::open(path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0600));
  if (!file.is_open()) {
    return absl::UnavailableError(
        absl::StrCat("can't open database ", path, ": ", std::strerror(errno)));
  }
  if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) return StoreLock(path, std::move(file));
  return absl::FailedPreconditionError(absl::StrCat(
      path, " is in use by another server: stop it, or name another database with --db"));
}

absl::Status StoreLock::CheckInPlace() const {
  struct stat locked = {};
  struct stat found = {};
  if (::fstat(file_.get(), &locked) != 0) return absl::OkStatus();
  const bool is_there = ::stat(path_.c_str(), &found) == 0;
  if (is_there && found.st_dev == locked.st_dev && found.st_ino == locked.st_ino) {
    return absl::OkStatus();
  }
  if (!is_there && errno != ENOENT && errno != ENOTDIR) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the database ", path_, " was ",
                   locked.st_nlink == 0 ? "deleted or replaced"
                   : is_there           ? "replaced"
                                        : "moved",
                   " while this server used it; what it stored is in the file that was there "
                   "before: put that file back, or give another --db"));
}

}  // namespace meshwright::db

#include "db/store_lock.h"

#include <fcntl.h>
#include <sys/file.h>

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
  if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) return StoreLock(std::move(file));
  return absl::FailedPreconditionError(
      absl::StrCat(path, " is another server's: end that one, or serve another --db"));
}

}  // namespace meshwright::db

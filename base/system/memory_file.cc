#include "base/system/memory_file.h"

#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace meshwright {
namespace {

absl::Status FailedCall(absl::string_view what) {
  return absl::UnavailableError(absl::StrCat(what, ": ", std::strerror(errno)));
}

}  // namespace

absl::StatusOr<int> MemoryFile(const char* name, std::string_view text) {
  const int file = ::memfd_create(name, MFD_CLOEXEC);
  if (file < 0) return FailedCall("memfd_create");
  while (!text.empty()) {
    const ssize_t n = ::write(file, text.data(), text.size());
    if (n < 0 && errno != EINTR) {
      const absl::Status status = FailedCall(absl::StrCat("write ", name));
      ::close(file);
      return status;
    }
    text.remove_prefix(static_cast<size_t>(std::max<ssize_t>(n, 0)));
  }
  ::lseek(file, 0, SEEK_SET);
  return file;
}

}  // namespace meshwright

#include "base/system/random_bytes.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/text/status_macros.h"

namespace meshwright {

absl::StatusOr<std::string> RandomBytes(size_t count) {
  std::string bytes(count, '\0');
  if (::getentropy(bytes.data(), bytes.size()) != 0) {
    return absl::UnavailableError(
        absl::StrCat("the system gives no random numbers: ", std::strerror(errno)));
  }
  return bytes;
}

absl::StatusOr<std::string> RandomHex(size_t count) {
  ASSIGN_OR_RETURN(const std::string bytes, RandomBytes(count));
  return absl::BytesToHexString(bytes);
}

}  // namespace meshwright

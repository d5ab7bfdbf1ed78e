// RandomBytes() returns bytes of the system's random numbers, for secrets that nobody can guess.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"

namespace meshwright {

// Returns `count` bytes, 1 to 256. Returns Unavailable if the system gives no random numbers.
absl::StatusOr<std::string> RandomBytes(size_t count);

// Returns `count` random bytes in hexadecimal, as 2 * `count` characters.
absl::StatusOr<std::string> RandomHex(size_t count);

}  // namespace meshwright

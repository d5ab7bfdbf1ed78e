#include "base/system/monotonic_time.h"

#include <chrono>

namespace meshwright {

MonotonicTime MonotonicNow() {
  return {absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch())};
}

}  // namespace meshwright

#include "executor/agent/backoff.h"

#include <algorithm>

namespace meshwright::agent {

absl::Duration BackoffDelay(int failures, double uniform) {
  constexpr int kDoublings = 5;  // 0.2 s * 2^5 is above the cap
  const absl::Duration grown =
      absl::Milliseconds(200) * (1 << std::clamp(failures - 1, 0, kDoublings));
  return std::min(grown, absl::Duration(absl::Seconds(5))) * (0.5 + 0.5 * uniform);
}

}  // namespace meshwright::agent

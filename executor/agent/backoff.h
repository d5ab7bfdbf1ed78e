// Delays between attempts to reach a server.
#pragma once

#include "absl/time/time.h"

namespace meshwright::agent {

// Returns a delay that doubles from 0.2 s to at most 5 s with the number of consecutive failures
// (from 1). `uniform`, from 0 to 1, spreads agents that lost the same server over the upper half of
// the delay.
absl::Duration BackoffDelay(int failures, double uniform);

}  // namespace meshwright::agent

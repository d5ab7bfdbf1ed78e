// How long to wait before the next try to reach a server.
#pragma once

#include "absl/time/time.h"

namespace meshwright::agent {

// Grows from 0.2 s to 5 s with the number of tries that failed in a row (from 1). `uniform`, from 0
// to 1, spreads agents that lost the same server over the upper half of the delay.
absl::Duration BackoffDelay(int failures, double uniform);

}  // namespace meshwright::agent

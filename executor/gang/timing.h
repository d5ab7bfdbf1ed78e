// Timeouts of a gang's members, and the clock they use.
#pragma once

#include "base/system/monotonic_time.h"

namespace meshwright::gang {

struct Timing {
  // For the leader, from its start until all members have joined; for a follower, until the leader
  // admits it.
  double join_s = 60.0;
  double handshake_s = 10.0;  // for the handshake of an accepted connection
  double ping_s = 1.0;        // interval between pings
  // A follower that lost its leader waits so long for the leader's own result.
  double last_word_s = 15.0;
  double silence_s = 30.0;  // a member that sends nothing for so long is lost
  // This host's clock, on which its workers report times.
  MonotonicClock clock = MonotonicNow;
};

}  // namespace meshwright::gang

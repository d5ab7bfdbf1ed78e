// How long the members of a gang wait for each other, and by which clock.
#pragma once

#include "base/system/monotonic_time.h"

namespace meshwright::gang {

struct Timing {
  // Until all members have joined, from the leader's start, and until the leader lets it in, from a
  // follower's.
  double join_s = 60.0;
  double handshake_s = 10.0;  // of a connection that came to the gate
  double ping_s = 1.0;        // from one ping to the next
  double last_word_s = 15.0;  // that a leader which is gone has for its result to come first
  double silence_s = 30.0;    // a member of which nothing is heard for so long is lost
  // This host's; the one that its workers tell times of.
  MonotonicClock clock = MonotonicNow;
};

}  // namespace meshwright::gang

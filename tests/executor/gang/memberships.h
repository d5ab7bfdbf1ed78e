// MembershipsOf() makes the memberships of a gang whose members are threads of a test.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "executor/gang/gang.h"

namespace meshwright::gang {

inline constexpr char kSecret[] = "a secret of this attempt alone";

// Returns memberships with the given numbers of ranks. Each member has its own loopback address, so
// that a connection to a wrong address fails.
inline std::vector<Membership> MembershipsOf(const std::vector<int32_t>& ranks) {
  Membership membership;
  membership.secret = kSecret;
  int32_t first = 0;
  for (size_t i = 0; i < ranks.size(); ++i) {
    membership.members.push_back({.agent = std::string(1, static_cast<char>('a' + i)),
                                  .first_rank = first,
                                  .ranks = ranks[i]});
    first += ranks[i];
  }
  std::vector<Membership> memberships(ranks.size(), membership);
  for (size_t i = 0; i < ranks.size(); ++i) {
    memberships[i].member = static_cast<int32_t>(i);
    memberships[i].address = "127.0.0." + std::to_string(i + 1);
  }
  memberships[0].listener = Listener::Open(memberships[0].address).value();
  for (size_t i = 1; i < ranks.size(); ++i) {
    memberships[i].rendezvous = memberships[0].listener->rendezvous();
  }
  return memberships;
}

// SkippableClock runs as MonotonicNow() does, and can be set forward, so that a test need not wait
// for a timeout.
class SkippableClock {
 public:
  void Skip(double seconds) { skipped_s_ = skipped_s_ + seconds; }
  // REQUIRES: this object outlives the clock that is returned.
  MonotonicClock clock() const {
    return [this] { return MonotonicNow() + absl::Seconds(skipped_s_.load()); };
  }

 private:
  std::atomic<double> skipped_s_ = 0.0;
};

// Returns timeouts that are short enough for a test.
inline Timing ShortTiming() {
  return {.join_s = 20.0, .handshake_s = 2.0, .ping_s = 0.2, .last_word_s = 0.2, .silence_s = 20.0};
}

}  // namespace meshwright::gang

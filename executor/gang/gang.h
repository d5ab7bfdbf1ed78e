// A gang is the set of agents that run one trial together. Each agent runs some of the trial's
// ranks on its host.
//
// The first member leads: it receives the events of all ranks and produces the trial's result. The
// other members, the followers, start their processes when the leader says so, and forward the
// processes' events to the leader.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/system/monotonic_time.h"
#include "executor/gang/listener.h"

namespace meshwright::gang {

// One agent and its contiguous range of ranks.
struct Member {
  std::string agent = {};
  int32_t first_rank = 0;
  int32_t ranks = 0;

  friend bool operator==(const Member&, const Member&) = default;
};

// One agent's view of its gang.
struct Membership {
  std::vector<Member> members = {};  // in order of their ranks, which cover the layout
  int32_t member = 0;                // index of this agent
  std::string secret = {};           // pre-shared key, known only to the members of this attempt
  std::string address = {};          // numeric address or name by which the others reach this host
  std::string rendezvous = {};       // host:port of the leader's listener; set on followers
  // The leader's listener, opened while the gang was prepared; null on followers.
  std::shared_ptr<Listener> listener = nullptr;

  bool leads() const { return member == 0; }
  const Member& own() const { return members[static_cast<size_t>(member)]; }
};

// Timeouts of a gang's members, and the clock they use.
struct Timing {
  // The leader waits this long for all members to join; a follower waits this long for the leader
  // to admit it.
  double join_s = 60.0;
  double handshake_s = 10.0;  // how long the handshake of a connection may take
  double ping_s = 1.0;        // interval between pings
  // A follower that lost its leader waits this long before it returns a failed result. This gives
  // the leader time to report its own result, which may name the cause better.
  double last_word_s = 15.0;
  double silence_s = 30.0;  // a member that sends nothing for this long is lost
  // This host's clock, on which its workers report times.
  MonotonicClock clock = MonotonicNow;
};

// Returns InvalidArgument unless the members' ranks, in order, cover all ranks of a layout of
// `devices` devices.
absl::Status CheckMembers(const std::vector<Member>& members, int64_t devices);

// Returns InvalidArgument unless CheckMembers() returns OK and `membership` has all fields that a
// leader or a follower needs.
absl::Status Validate(const Membership& membership, int64_t devices);

std::vector<int32_t> RanksOf(const Member& member);

// Returns for example "agent b (ranks 2 to 3)".
std::string NameOf(const Member& member);

}  // namespace meshwright::gang

// A gang is the set of agents that run one trial together, each with some of its ranks on its host.
//
// The first member leads: it receives the events of all ranks and produces the trial's result. The
// followers start their workers when the leader says so, and forward their events.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
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
  std::vector<Member> members = {};  // in order of their ranks; together all of the layout's
  int32_t member = 0;                // index of this agent
  std::string secret = {};           // known only to the members of this attempt
  std::string address = {};          // numeric address or name by which the others reach this host
  std::string rendezvous = {};       // host:port of the leader's listener; set on followers
  // Set on the leader; opened while the gang was prepared.
  std::shared_ptr<Listener> gate = nullptr;

  bool leads() const { return member == 0; }
  const Member& own() const { return members[static_cast<size_t>(member)]; }
};

// InvalidArgument unless the members cover all ranks of a layout of `devices` devices, in order.
absl::Status CheckMembers(const std::vector<Member>& members, int64_t devices);

// InvalidArgument unless CheckMembers() holds and `place` has the fields that its member needs.
absl::Status Validate(const Membership& place, int64_t devices);

std::vector<int32_t> RanksOf(const Member& member);

// Returns for example "agent b (ranks 2 to 3)".
std::string NameOf(const Member& member);

}  // namespace meshwright::gang

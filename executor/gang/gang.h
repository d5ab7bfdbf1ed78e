// A gang: the agents that run one trial together, each some of its ranks on its host.
//
// The first member leads: it hears all ranks and tells what came of the trial. The others start
// theirs when it says so, and forward what they tell.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "executor/gang/listener.h"

namespace meshwright::gang {

// One agent, and the contiguous ranks that it runs.
struct Member {
  std::string agent = {};
  int32_t first_rank = 0;
  int32_t ranks = 0;

  friend bool operator==(const Member&, const Member&) = default;
};

// Where one agent stands in a gang's run.
struct Membership {
  std::vector<Member> members = {};  // in order of their ranks; together all of the layout's
  int32_t member = 0;                // this one
  std::string secret = {};           // known to the members of this attempt alone
  std::string address = {};          // this host's numeric address or name, as the others reach it
  std::string rendezvous = {};       // host:port of the leader's gate; for followers
  std::shared_ptr<Listener> gate = nullptr;  // the leader's, opened while the gang was prepared

  bool leads() const { return member == 0; }
  const Member& own() const { return members[static_cast<size_t>(member)]; }
};

// InvalidArgument unless the members have all ranks of a layout of `devices`, in their order.
absl::Status CheckMembers(const std::vector<Member>& members, int64_t devices);

// InvalidArgument unless the members are of a layout of `devices` ranks and the place has what its
// member needs.
absl::Status Validate(const Membership& place, int64_t devices);

std::vector<int32_t> RanksOf(const Member& member);

// "agent b (ranks 2 to 3)".
std::string NameOf(const Member& member);

}  // namespace meshwright::gang

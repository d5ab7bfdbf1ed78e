// Joining collects a gang's followers: the leader waits for all of them before any worker starts.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "executor/gang/arrivals.h"
#include "executor/gang/gang.h"
#include "executor/gang/remote_member.h"
#include "executor/trial/trial.h"

namespace meshwright::gang {

class Joining {
 public:
  // REQUIRES: all three outlive this object.
  Joining(const Membership& membership, const Timing& timing, Arrivals& arrivals);

  // Waits until all followers have joined, and then returns nullopt. Returns the trial's result if
  // `cancelled` returns true, or if a follower prevents the start: it can't run its ranks, has
  // workers of another version, is lost, or does not join in time.
  std::optional<trial::TrialResult> Wait(const std::function<bool()>& cancelled);

  // Returns the followers that have joined, in order of their ranks.
  std::vector<std::shared_ptr<RemoteMember>> members() const;

 private:
  // A link whose member has not identified itself yet.
  struct Unknown {
    Link link;
    MonotonicTime deadline;
  };

  void TakeArrivals();
  // Returns false once the link has been identified or dropped.
  bool StaysUnknown(Unknown& unknown);
  void Join(const JoinFrame& join, Link link, std::vector<Frame> rest);
  // Returns why `join` is not from an awaited member, or an empty string if it is.
  std::string Objection(const JoinFrame& join) const;
  static void Refuse(std::string why, Link link);
  std::optional<trial::TrialResult> FailureOfAny() const;
  trial::TrialResult Missing() const;
  void WaitForSomething() const;
  bool AllJoined() const { return joined_.size() + 1 == membership_.members.size(); }

  const Membership& membership_;
  const Timing& timing_;
  Arrivals& arrivals_;
  std::vector<Unknown> unknown_;
  std::map<int32_t, std::shared_ptr<RemoteMember>> joined_;  // by member
  std::optional<trial::TrialResult> refused_;  // set once an awaited member was refused
};

}  // namespace meshwright::gang

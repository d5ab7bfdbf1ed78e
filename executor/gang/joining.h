// How the followers join: the leader waits for all of them before any worker is started.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "executor/gang/arrivals.h"
#include "executor/gang/gang.h"
#include "executor/gang/remote_member.h"
#include "executor/gang/timing.h"
#include "executor/trial/trial.h"

namespace meshwright::gang {

class Joining {
 public:
  // All of these outlive it.
  Joining(const Membership& place, const Timing& timing, Arrivals& arrivals);

  // Waits until all followers have joined, or for the result of a trial that one of them keeps from
  // beginning: it can't run its ranks, it is lost, or it did not come in time.
  std::optional<trial::TrialResult> Wait(const std::function<bool()>& cancelled);

  // In the order of their ranks. Requires that all have joined.
  std::vector<std::shared_ptr<RemoteMember>> members() const;

 private:
  // A link of which it isn't known whose it is.
  struct Unknown {
    Link link;
    MonotonicTime deadline;
  };

  void TakeArrivals();
  // False once it is no longer unknown, or of no use.
  bool StaysUnknown(Unknown& unknown);
  void Join(const JoinFrame& join, Link link, std::vector<Frame> rest);
  // Why it is none of the members that are waited for; empty where it is one.
  std::string Objection(const JoinFrame& join) const;
  static void Refuse(std::string why, Link link);
  std::optional<trial::TrialResult> FailureOfAny() const;
  trial::TrialResult Missing() const;
  void WaitForSomething() const;
  bool AllJoined() const { return joined_.size() + 1 == place_.members.size(); }

  const Membership& place_;
  const Timing& timing_;
  Arrivals& arrivals_;
  std::vector<Unknown> unknown_;
  std::map<int32_t, std::shared_ptr<RemoteMember>> joined_;  // by member
  std::optional<trial::TrialResult> refused_;                // one that is needed
};

}  // namespace meshwright::gang

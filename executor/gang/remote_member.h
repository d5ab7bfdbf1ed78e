// RemoteMember is the leader's view of one follower: the events of the follower's ranks, the offset
// of its clock, and whether it is lost.
#pragma once

#include <poll.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "executor/gang/clock_estimate.h"
#include "executor/gang/frame.h"
#include "executor/gang/gang.h"
#include "executor/gang/link.h"

namespace meshwright::gang {

class RemoteMember {
 public:
  // The lines and the exit that one rank has sent since the caller last took them.
  struct RankNews {
    std::vector<std::string> lines = {};
    std::optional<ExitFrame> exit = std::nullopt;
  };

  // Sends the admit frame.
  RemoteMember(Member member, Link link, const Timing& timing);

  const Member& member() const { return member_; }
  void Start(const StartFrame& start) { link_.Send(start); }
  // Tells the member to end its part. Idempotent.
  void End();

  // Handles frames that have arrived, sends pings and detects silence.
  void Pump();
  void Take(Frame frame);
  void AddDescriptor(std::vector<pollfd>& descriptors) const { link_.AddDescriptor(descriptors); }

  // Returns the untaken news of `rank`. REQUIRES: `rank` is one of this member's ranks.
  RankNews& news(int32_t rank) { return news_.at(rank); }
  // Returns whether the member ended because its agent was told to end its part of the trial, which
  // does not count as a failure.
  bool withdrew() const { return failure_ && failure_->fault == trial::Fault::kNone; }
  // Returns why none of the member's ranks runs, now or later, or nullopt while they may run.
  const std::optional<FailFrame>& failure() const { return failure_; }
  double clock_ahead_s() const { return clock_.ahead_s(); }

 private:
  void Ping();
  void NoticeLoss();

  const Member member_;
  const Timing timing_;
  Link link_;
  std::map<int32_t, RankNews> news_;
  std::optional<FailFrame> failure_;
  ClockEstimate clock_;
  int pings_ = 0;
  MonotonicTime pinged_ = MonotonicTime::Always();
  bool told_end_ = false;
};

}  // namespace meshwright::gang

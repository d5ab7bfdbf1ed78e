// A follower as the leader has it: what its ranks tell, its clock, and whether it is still there.
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
#include "executor/gang/timing.h"

namespace meshwright::gang {

class RemoteMember {
 public:
  // What was heard of one rank and nobody took yet.
  struct RankNews {
    std::vector<std::string> lines = {};
    std::optional<ExitFrame> exit = std::nullopt;
  };

  // Admits it.
  RemoteMember(Member member, Link link, const Timing& timing);

  const Member& member() const { return member_; }
  void Start() { link_.Send(StartFrame()); }
  // Has it end its workers; once is enough.
  void End();

  // Takes in what has come, asks for its time, and notices where it is silent.
  void Pump();
  void Take(Frame frame);
  void AddDescriptor(std::vector<pollfd>& descriptors) const { link_.AddDescriptor(descriptors); }

  // REQUIRES: one of its ranks.
  RankNews& news(int32_t rank) { return news_.at(rank); }
  // That none of its ranks runs any more, or will, and why.
  // Whether its agent was told to end its part, which is nobody's failure.
  bool withdrew() const { return failure_ && failure_->fault == trial::Fault::kNone; }
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

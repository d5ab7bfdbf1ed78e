// Forwarding passes the events and exits of a follower's processes to the leader, and ends the
// processes when the leader says so.
#pragma once

#include <chrono>
#include <utility>
#include <vector>

#include "executor/gang/host_part.h"
#include "executor/gang/leader_link.h"

namespace meshwright::gang {

class Forwarding {
 public:
  // REQUIRES: `link` outlives this object.
  Forwarding(std::vector<LocalRank> ranks, LeaderLink& link)
      : ranks_(std::move(ranks)), link_(link) {}

  // Waits briefly for input. Then handles the leader's frames, and sends pending events and exits
  // to the leader.
  void Step();
  // Kills the processes that still run and reports how they ended, for which it waits at most
  // `limit`.
  void EndAll(std::chrono::milliseconds limit);

 private:
  void WaitForSomething() const;
  void Forward(const LocalRank& rank);
  void TellExit(const LocalRank& rank, bool left);
  // Returns whether the leader reads too slowly. Reading from the processes then pauses
  // (back-pressure).
  bool is_behind() const;

  std::vector<LocalRank> ranks_;
  LeaderLink& link_;
};

}  // namespace meshwright::gang

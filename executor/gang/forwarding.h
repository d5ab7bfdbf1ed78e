// Forwarding passes a follower's worker events and exits to the leader, and the leader's commands
// to the workers.
#pragma once

#include <vector>

#include "executor/gang/leader_link.h"
#include "executor/trial/worker_process.h"

namespace meshwright::gang {

class Forwarding {
 public:
  // `workers` run `ranks`, in the same order. REQUIRES: `link` outlives this object.
  Forwarding(std::vector<trial::WorkerProcess> workers, std::vector<int32_t> ranks,
             LeaderLink& link);

  // Sends pending events and exits to the leader and handles what it sent; waits briefly for
  // either.
  void Step();
  // Kills the workers that still run and reports how they ended. Takes at most trial::kLongestKill.
  void EndAll();

 private:
  struct Worker {
    trial::WorkerProcess process;
    int32_t rank = 0;
  };

  void WaitForSomething() const;
  void Forward(Worker& worker);
  void TellExit(const Worker& worker, bool left);
  // Whether the leader does not keep up: reading from the workers then pauses (back-pressure).
  bool is_behind() const;

  std::vector<Worker> workers_;
  LeaderLink& link_;
};

}  // namespace meshwright::gang

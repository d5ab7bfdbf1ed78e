// Forwarding passes the events and exits of a follower's workers to the leader, and ends the
// workers when the leader says so.
#pragma once

#include <vector>

#include "executor/gang/leader_link.h"
#include "executor/trial/worker_process.h"

namespace meshwright::gang {

class Forwarding {
 public:
  // workers[i] runs ranks[i]. REQUIRES: `link` outlives this object.
  Forwarding(std::vector<trial::WorkerProcess> workers, std::vector<int32_t> ranks,
             LeaderLink& link);

  // Waits briefly for input. Then handles the leader's frames, and sends pending events and exits
  // to the leader.
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
  // Returns whether the leader reads too slowly. Reading from the workers then pauses
  // (back-pressure).
  bool is_behind() const;

  std::vector<Worker> workers_;
  LeaderLink& link_;
};

}  // namespace meshwright::gang

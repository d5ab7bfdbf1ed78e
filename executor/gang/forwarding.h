// A follower's workers while the leader hears them through it.
#pragma once

#include <vector>

#include "executor/gang/leader_link.h"
#include "executor/trial/worker_process.h"

namespace meshwright::gang {

class Forwarding {
 public:
  // Of `ranks`, in the order of the workers. The link outlives it.
  Forwarding(std::vector<trial::WorkerProcess> workers, std::vector<int32_t> ranks,
             LeaderLink& link);

  // Sends what the workers tell and how they end, and hears the leader; waits a moment for either.
  void Step();
  // Kills the workers that still run and tells how they ended. Takes trial::kLongestKill at the
  // most.
  void EndAll();

 private:
  struct Worker {
    trial::WorkerProcess process;
    int32_t rank = 0;
  };

  void WaitForSomething() const;
  void Forward(Worker& worker);
  void TellExit(const Worker& worker, bool left);
  // The leader does not keep up: the workers have to wait.
  bool is_behind() const;

  std::vector<Worker> workers_;
  LeaderLink& link_;
};

}  // namespace meshwright::gang

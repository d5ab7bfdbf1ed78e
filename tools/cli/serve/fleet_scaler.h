// FleetScaler starts agents through a batch queue while trials wait for agents, and lets agents go
// once they are idle. It runs on a thread of its own.
//
// Callers may rely on:
// - A job is cancelled only after the engine released all of its agents. The engine releases agents
//   only if all are idle, and stops assigning trials to them in the same step
//   (server/engine/engine_input.h).
// - A name is used again only after its last job ended and the engine admitted the name.
// - Jobs carry the name of the launch's owner. Jobs of an earlier server with the same owner and
// the
//   same number of nodes are therefore found again, and jobs of other owners are left alone.
#pragma once

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "server/sweeps/sweep_engine.h"
#include "tools/cli/launcher/fleet_jobs.h"
#include "tools/cli/serve/scaling.h"

namespace meshwright::cli {

struct FleetScaling {
  FleetLaunch launch;
  ScalingLimits limits;
  std::shared_ptr<const JobQueue> queue;
};

class FleetScaler {
 public:
  // Starts the thread. Returns the error of FleetJobs::Begin() with nothing started. REQUIRES: the
  // engine outlives the scaler.
  static absl::StatusOr<std::unique_ptr<FleetScaler>> Start(FleetScaling scaling,
                                                            server::SweepEngine* engine,
                                                            LogFunction log);
  ~FleetScaler() { Stop(); }

  // Cancels all jobs of this scaler and waits for their end. After a timeout, logs a warning and
  // returns.
  void Stop();

 private:
  FleetScaler(FleetScaling scaling, server::SweepEngine* engine, LogFunction log);

  void Run();
  void Look();
  // Tells the engine what the waiting jobs wait for.
  void TellQueue();
  void LetGo(int32_t wanted_jobs, const server::EngineDemand& demand);
  // Returns the jobs that were not let go, with their agents.
  std::vector<FleetJob> Jobs() const;
  // Returns the number of jobs for so many nodes whose agents take trials.
  int32_t WantedJobs(int32_t nodes, const server::EngineDemand& demand);
  // Returns the agents of a job of the fleet.
  std::vector<std::string> AgentsOf(const std::string& job) const;
  // Returns the number of jobs for so many nodes.
  int32_t JobsFor(int32_t nodes) const;
  // Returns the names of the jobs whose agents are all among `closed`.
  std::set<std::string> ClosedJobs(const std::set<std::string>& closed) const;
  bool Release(const std::string& job);
  bool Admit(const std::string& job);
  void Tell(const NodesWanted& wanted);
  void Say(LogLevel level, std::string message, const std::string& agent = "") const;

  const FleetScaling scaling_;
  server::SweepEngine* const engine_;
  const absl::Time clock_start_;  // the start of the monotonic clock
  std::atomic<bool> stopping_{false};
  const LaunchWorld world_;
  FleetJobs jobs_;
  Scaling decisions_;
  int32_t told_nodes_ = 0;
  int32_t told_missing_ = 0;
  std::vector<std::string> told_too_large_;
  std::string told_refused_;  // why a name could not be admitted
  std::thread thread_;
};

}  // namespace meshwright::cli

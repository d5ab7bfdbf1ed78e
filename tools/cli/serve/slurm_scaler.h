// SlurmScaler starts agents through Slurm while trials wait for them, and lets them go once they
// are idle, on a thread of its own.
//
// Callers may rely on: a job is cancelled only after the engine released its agent, which it does
// only for an agent that holds nothing, and in the same step in which it stops assigning trials to
// it (server/engine/engine_input.h); a name is reused only after its last job ended and the name
// was admitted again. Jobs carry the owner that the launch names: by it, jobs of an earlier server
// are found again and those of anybody else are left alone.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "server/sweeps/sweep_engine.h"
#include "tools/cli/launcher/slurm_jobs.h"
#include "tools/cli/serve/scaling.h"

namespace meshwright::cli {

struct SlurmScaling {
  SlurmLaunch launch;
  ScalingLimits limits;
};

class SlurmScaler {
 public:
  // An error, with nothing started, where the queue can't be queried or has jobs of the fleet's
  // names that are somebody else's. The engine must outlive it.
  static absl::StatusOr<std::unique_ptr<SlurmScaler>> Start(SlurmScaling scaling,
                                                            server::SweepEngine* engine,
                                                            LogFunction log);
  ~SlurmScaler() { Stop(); }

  // Cancels all of its jobs and returns once they have ended, or after a timeout with a warning.
  void Stop();

 private:
  SlurmScaler(SlurmScaling scaling, server::SweepEngine* engine, LogFunction log);

  void Run();
  void Look();
  void LetGo(const NodesWanted& wanted, const server::EngineDemand& demand);
  bool Release(const std::string& agent);
  bool Admit(const std::string& agent);
  void Tell(const NodesWanted& wanted);
  void Say(LogLevel level, std::string message, const std::string& agent = "") const;

  const SlurmScaling scaling_;
  server::SweepEngine* const engine_;
  std::atomic<bool> stopping_{false};
  const LaunchWorld world_;
  SlurmJobs jobs_;
  Scaling decisions_;
  int32_t told_nodes_ = 0;
  std::vector<std::string> told_too_large_;
  std::string told_refused_;  // why a name could not be admitted
  std::thread thread_;
};

}  // namespace meshwright::cli

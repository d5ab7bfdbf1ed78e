// SlurmJobs manages a fleet's jobs in Slurm's queue: it observes them and carries out what
// AgentJobs decides.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/system/log.h"
#include "base/system/monotonic_time.h"
#include "tools/cli/launcher/agent_fleet.h"
#include "tools/cli/launcher/agent_jobs.h"
#include "tools/cli/launcher/batch_script.h"
#include "tools/cli/launcher/slurm_queue.h"

namespace meshwright::cli {

struct SlurmLaunch {
  AgentFleet fleet;
  SlurmJobFlags job;
  std::string program;  // path of `meshwright` on the nodes
  absl::Duration poll;  // between two queries of the queue
  JobPolicy policy = {};
};

// Dependencies on the outside world.
struct LaunchWorld {
  SlurmQueue queue;
  LogFunction log;
  MonotonicClock clock;
  std::function<void(absl::Duration)> sleep;
  std::function<bool()> stopped;
  // Whether an agent may be started now; if not, it is asked again at the next look. Empty: all
  // may.
  std::function<bool(const std::string& agent)> may_submit = {};
};

class SlurmJobs {
 public:
  // Both must outlive it.
  SlurmJobs(const SlurmLaunch& launch, const LaunchWorld& world);

  // FailedPrecondition where there is no Slurm; InvalidArgument where the queue has jobs of the
  // fleet's names that are not its owner's, or where it has no owner.
  absl::Status Begin() const;

  // Observes the queue and carries out the decisions. False where the queue can't be queried, which
  // is logged once.
  bool Look();
  // Waits until the next look is due, or a stop.
  void Wait() const;
  // Cancels the agent's job.
  void LetGo(const std::string& agent);
  // Cancels all jobs, and returns once they have ended, or with a warning after a timeout.
  void End();

  AgentJobs& agent_jobs() { return agent_jobs_; }

 private:
  void Say(LogLevel level, std::string message) const;
  absl::StatusOr<std::vector<QueuedJob>> ListOwn() const;
  void Submit(const std::string& name);
  void Cancel(const std::vector<std::string>& jobs) const;

  const SlurmLaunch& launch_;
  const LaunchWorld& world_;
  const std::vector<std::string> names_;
  AgentJobs agent_jobs_;
  bool answers_ = true;
};

// Keeps one job in the queue for each agent until it is told to stop. After a stop, returns once
// the jobs are cancelled and have ended; OK also where some have not within a timeout, of which it
// warns. An error, with none of its jobs left in the queue, where the queue can't be queried at the
// start, has jobs of the same names, or every agent is given up.
absl::Status RunLaunch(const SlurmLaunch& launch, const LaunchWorld& world);

}  // namespace meshwright::cli

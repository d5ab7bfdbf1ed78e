// The jobs of a fleet in Slurm's queue: looks at them, and carries out what AgentJobs decides.
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
  absl::Duration poll;  // between two looks at the queue
  JobPolicy policy = {};
};

// What it uses of the world.
struct LaunchWorld {
  SlurmQueue queue;
  LogFunction log;
  MonotonicClock clock;
  std::function<void(absl::Duration)> sleep;
  std::function<bool()> stopped;
  // Whether an agent may be brought up now; where not, it is asked again at the next look. Empty:
  // all may.
  std::function<bool(const std::string& agent)> may_submit = {};
};

class SlurmJobs {
 public:
  // Both must outlive it.
  SlurmJobs(const SlurmLaunch& launch, const LaunchWorld& world);

  // FailedPrecondition where there is no Slurm; InvalidArgument where jobs of the fleet's names are
  // in the queue that are not of its owner, or it has no owner.
  absl::Status Begin() const;

  // Observes the queue and does what follows. False where it can't be asked, which is said once.
  bool Look();
  // Until the next look is due, or a stop.
  void Wait() const;
  // Cancels the agent's job.
  void LetGo(const std::string& agent);
  // Cancels all of them, and returns once they have ended, or with a warning where they have not
  // within a time.
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

}  // namespace meshwright::cli

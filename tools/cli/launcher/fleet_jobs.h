// FleetJobs manages a fleet's jobs in a batch queue: it observes the jobs and carries out the
// decisions of AgentJobs.
#pragma once

#include <functional>
#include <memory>
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
#include "tools/cli/launcher/job_queue.h"

namespace meshwright::cli {

struct FleetLaunch {
  AgentFleet fleet;
  // The name of the owner of the jobs. After a restart, the owner finds its jobs by this name. If
  // it is empty, the submitting process owns the jobs while it runs.
  std::string owner = {};
  std::string program;  // path of `meshwright` on the nodes
  absl::Duration poll;  // between two queries of the queue
  JobPolicy policy = {};
};

// LaunchWorld holds the functions through which FleetJobs reaches the outside world.
struct LaunchWorld {
  std::shared_ptr<const JobQueue> queue;
  LogFunction log;
  MonotonicClock clock;
  std::function<void(absl::Duration)> sleep;
  std::function<bool()> stopped;
  // Returns whether the agent may be started now; if not, the next Look() asks again. If the
  // function is empty, every agent may be started.
  std::function<bool(const std::string& agent)> may_submit = {};
};

class FleetJobs {
 public:
  // REQUIRES: `launch` and `world` outlive the FleetJobs.
  FleetJobs(const FleetLaunch& launch, const LaunchWorld& world);

  // Checks that the fleet's jobs can be submitted. Returns the error of JobQueue::Check().
  // Returns InvalidArgument if the queue has an unfinished job with a name of the fleet, unless
  // that job belongs to the launch's owner.
  absl::Status Begin() const;

  // Observes the queue and carries out the decisions. If the queue can't be queried, logs that once
  // and returns false.
  bool Look();
  // Waits until the next Look() is due or a stop is requested.
  void Wait() const;
  // Lets the agent's job go (AgentJobs::LetGo()) and cancels it.
  void LetGo(const std::string& agent);
  // Cancels all jobs and waits for their end. After a timeout, logs a warning and returns.
  void End();

  AgentJobs& agent_jobs() { return agent_jobs_; }
  const AgentJobs& agent_jobs() const { return agent_jobs_; }

 private:
  void Say(LogLevel level, std::string message) const;
  absl::StatusOr<std::vector<QueuedJob>> ListOwn() const;
  void Submit(const std::vector<std::string>& names, const std::vector<QueuedJob>& present);
  // Notes that the job of `name` was submitted, or why it was not.
  void Note(const std::string& name, const absl::StatusOr<std::string>& job);
  void Cancel(const std::vector<std::string>& jobs) const;

  const FleetLaunch& launch_;
  const LaunchWorld& world_;
  const std::string owner_;  // of jobs with the launch's number of nodes
  const std::vector<std::string> names_;
  AgentJobs agent_jobs_;
  bool answers_ = true;
};

// Keeps each of JobNames() in the queue until a stop is requested. Then ends the jobs as
// FleetJobs::End() does and returns OK, even if some had not ended before the timeout. If
// FleetJobs::Begin() fails, submits no job and returns its error. If every job is given up, ends
// the jobs and returns Aborted.
absl::Status RunLaunch(const FleetLaunch& launch, const LaunchWorld& world);

}  // namespace meshwright::cli

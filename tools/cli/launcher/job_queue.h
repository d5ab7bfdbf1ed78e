// JobQueue is the part of a site's batch queue that a fleet of agents needs: it submits an agent's
// job, lists the fleet's jobs, and cancels jobs.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/cli/launcher/agent_fleet.h"
#include "tools/cli/launcher/agent_jobs.h"

namespace meshwright::cli {

// Runs a program with `input` as its standard input and returns its output. It is RunProgramOn(),
// or a test's own function.
using InputProgramRunner = std::function<absl::StatusOr<std::string>(
    std::string_view input, const std::vector<std::string>& arguments, double timeout_s)>;

// A job of agents (AgentsOfJob()).
struct AgentJobSpec {
  const AgentFleet& fleet;
  std::string program;  // path of `meshwright` on the nodes
  std::string owner;    // FleetLaunch::owner
  std::string agent;    // name of the job, which is that of its first agent
};

class JobQueue {
 public:
  virtual ~JobQueue() = default;

  // Returns the queue's name as it is written at the start of a sentence.
  virtual std::string name() const = 0;
  // Returns the command, or other advice, by which a person can end `job`.
  virtual std::string HowToEnd(std::string_view job) const = 0;
  // Returns the command, or other advice, by which a person can list the jobs.
  virtual std::string HowToList() const = 0;
  // Returns where the job's output goes; empty if the queue decides.
  virtual std::string OutputOf(std::string_view agent, std::string_view job) const = 0;

  // Checks that the job can be submitted, without submitting it. Returns an error, with what to do,
  // if not.
  virtual absl::Status Check(const AgentJobSpec& spec) const = 0;
  // Submits the job and returns its number or name in the queue. There may be a job even after an
  // error, such as when the queue's program was killed before it printed the number.
  virtual absl::StatusOr<std::string> Submit(const AgentJobSpec& spec) const = 0;
  // Returns whether jobs may be submitted beside the fleet's present jobs, as List() returned them.
  // If not, the caller asks again after the next List().
  virtual bool TakesMore(const std::vector<QueuedJob>& /*present*/) const { return true; }
  // Hears of each submitted job in turn: its agent, and what Submit() would return. Returns whether
  // to submit the jobs that are left.
  using Submitted =
      std::function<bool(const std::string& agent, const absl::StatusOr<std::string>& job)>;
  // Submits jobs beside the fleet's present jobs: in one step if the queue has such a step, and one
  // after the other if not. REQUIRES: TakesMore(present).
  virtual void SubmitAll(const std::vector<AgentJobSpec>& specs,
                         const std::vector<QueuedJob>& /*present*/,
                         const Submitted& submitted) const {
    for (const AgentJobSpec& spec : specs) {
      if (!submitted(spec.agent, Submit(spec))) return;
    }
  }
  // Returns the jobs of these agents, including ended jobs that the queue still knows.
  virtual absl::StatusOr<std::vector<QueuedJob>> List(
      const std::vector<std::string>& agents) const = 0;
  virtual absl::Status Cancel(const std::vector<std::string>& jobs) const = 0;

 protected:
  JobQueue() = default;
  JobQueue(const JobQueue&) = default;
  JobQueue& operator=(const JobQueue&) = default;
};

}  // namespace meshwright::cli

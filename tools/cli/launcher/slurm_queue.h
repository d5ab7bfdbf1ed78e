// SlurmQueue accesses Slurm's queue through the commands sbatch, squeue and scancel, which it looks
// up in PATH. A job's id is its number, or "ARRAY_TASK" for a task of an array (job_array.h).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/cli/launcher/batch_script.h"
#include "tools/cli/launcher/job_queue.h"

namespace meshwright::cli {

class SlurmQueue : public JobQueue {
 public:
  explicit SlurmQueue(InputProgramRunner run, SlurmJobFlags flags = {})
      : run_(std::move(run)), flags_(std::move(flags)) {}

  std::string name() const override { return "Slurm"; }
  std::string HowToEnd(std::string_view job) const override;
  std::string HowToList() const override { return "squeue --me"; }
  std::string OutputOf(std::string_view agent, std::string_view job) const override;

  // Returns FailedPrecondition, with what to do, if this machine has no sbatch.
  absl::Status Check(const AgentJobSpec& spec) const override;
  absl::StatusOr<std::string> Submit(const AgentJobSpec& spec) const override;
  // If SlurmJobFlags::array is set, jobs are submitted as tasks of one array, and only if fewer
  // jobs than that may run at once.
  bool TakesMore(const std::vector<QueuedJob>& present) const override;
  void SubmitAll(const std::vector<AgentJobSpec>& specs, const std::vector<QueuedJob>& present,
                 const Submitted& submitted) const override;
  absl::StatusOr<std::vector<QueuedJob>> List(
      const std::vector<std::string>& agents) const override;
  // Slurm sends SIGTERM to running jobs, and SIGKILL after its KillWait.
  absl::Status Cancel(const std::vector<std::string>& jobs) const override;

 private:
  // Submits the script and returns the number of its job or array.
  absl::StatusOr<std::string> SubmitScript(const std::string& script) const;

  InputProgramRunner run_;
  SlurmJobFlags flags_;
};

}  // namespace meshwright::cli

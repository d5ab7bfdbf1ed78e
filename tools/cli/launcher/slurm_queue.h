// SlurmQueue accesses Slurm's queue through the commands sbatch, squeue and scancel, which it looks
// up in PATH.
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
  absl::StatusOr<std::vector<QueuedJob>> List(
      const std::vector<std::string>& agents) const override;
  // Slurm sends SIGTERM to running jobs, and SIGKILL after its KillWait.
  absl::Status Cancel(const std::vector<std::string>& jobs) const override;

 private:
  InputProgramRunner run_;
  SlurmJobFlags flags_;
};

}  // namespace meshwright::cli

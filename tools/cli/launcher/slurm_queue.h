// SlurmQueue accesses Slurm's queue by its commands, sbatch, squeue and scancel, which are looked
// up in PATH.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/cli/launcher/agent_jobs.h"

namespace meshwright::cli {

// Runs a program on an input and returns its output: RunProgramOn(), or a test's own.
using InputProgramRunner = std::function<absl::StatusOr<std::string>(
    std::string_view input, const std::vector<std::string>& arguments, double timeout_s)>;

class SlurmQueue {
 public:
  explicit SlurmQueue(InputProgramRunner run) : run_(std::move(run)) {}

  // FailedPrecondition with what to do where this machine has no sbatch.
  absl::Status CheckCommands() const;

  // Returns the number of the job that `script` became. After an error a job may exist all the
  // same, as where sbatch was ended before it could tell.
  absl::StatusOr<std::string> Submit(const std::string& script) const;
  // Returns the user's jobs of these names, including ended ones that Slurm still remembers.
  absl::StatusOr<std::vector<QueuedJob>> List(const std::vector<std::string>& names) const;
  // Slurm sends SIGTERM to running jobs, and SIGKILL after its KillWait.
  absl::Status Cancel(const std::vector<std::string>& jobs) const;

 private:
  InputProgramRunner run_;
};

}  // namespace meshwright::cli

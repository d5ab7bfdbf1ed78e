// SlurmQueue accesses Slurm's queue through the commands sbatch, squeue and scancel, which it looks
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

// Runs a program with `input` as its standard input and returns its output. It is RunProgramOn(),
// or a test's own function.
using InputProgramRunner = std::function<absl::StatusOr<std::string>(
    std::string_view input, const std::vector<std::string>& arguments, double timeout_s)>;

class SlurmQueue {
 public:
  explicit SlurmQueue(InputProgramRunner run) : run_(std::move(run)) {}

  // Returns FailedPrecondition, with what to do, if this machine has no sbatch.
  absl::Status CheckCommands() const;

  // Submits `script` and returns the number of its job. There may be a job even after an error,
  // such as when sbatch was killed before it printed the number.
  absl::StatusOr<std::string> Submit(const std::string& script) const;
  // Returns the user's jobs of these names, including ended ones that Slurm still remembers.
  absl::StatusOr<std::vector<QueuedJob>> List(const std::vector<std::string>& names) const;
  // Cancels the jobs. Slurm sends SIGTERM to running jobs, and SIGKILL after its KillWait.
  absl::Status Cancel(const std::vector<std::string>& jobs) const;

 private:
  InputProgramRunner run_;
};

}  // namespace meshwright::cli

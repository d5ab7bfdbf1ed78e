// Writes the batch script of a Slurm job that runs one agent on one node.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "tools/cli/launcher/agent_fleet.h"

namespace meshwright::cli {

// What the user may set of a job; empty: the cluster's default.
struct SlurmJobFlags {
  std::string partition;
  std::string time_limit;  // "HH:MM:SS", "D-HH:MM:SS" or minutes
  std::string account;
  // Not a flag: identifies the jobs' owner, which finds them again after a restart; empty: the
  // submitting process owns them while it runs.
  std::string owner = {};
};

// InvalidArgument about a flag whose value sbatch would misread.
absl::Status Check(const SlurmJobFlags& flags);

// Returns the script, for `sbatch` on its standard input; deterministic in its arguments. The job
// has a node for itself, with all its processors, memory and GPUs; the agent is its one task and
// gets Slurm's SIGTERM. Slurm does not requeue it: whoever watches it decides that.
std::string BatchScript(const AgentFleet& fleet, const SlurmJobFlags& flags,
                        const std::string& program, std::string_view agent);

// Returns the file, in the folder of the submission, that the job's output goes to.
std::string BatchLogFile(std::string_view agent, std::string_view job);

}  // namespace meshwright::cli

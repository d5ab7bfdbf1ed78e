// The batch script of a Slurm job that runs one agent on one node.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "tools/cli/launcher/agent_fleet.h"

namespace meshwright::cli {

// What of a job the user may say; empty: the cluster's default.
struct SlurmJobFlags {
  std::string partition;
  std::string time_limit;  // "HH:MM:SS", "D-HH:MM:SS" or minutes
  std::string account;
  // Not a flag: who keeps the jobs, by which it knows them after it was started anew; empty: who
  // submits them, while it runs.
  std::string owner = {};
};

// InvalidArgument about the flag whose value sbatch would not read as it was meant.
absl::Status Check(const SlurmJobFlags& flags);

// For `sbatch` on its standard input, the same for the same arguments. The job has a node for
// itself, with all its processors, memory and GPUs; the agent is its one task and gets Slurm's
// SIGTERM. Slurm does not queue it a second time: whoever watches it decides that.
std::string BatchScript(const AgentFleet& fleet, const SlurmJobFlags& flags,
                        const std::string& program, std::string_view agent);

// The file, in the folder of the submission, that the job's output goes to.
std::string BatchLogFile(std::string_view agent, std::string_view job);

}  // namespace meshwright::cli

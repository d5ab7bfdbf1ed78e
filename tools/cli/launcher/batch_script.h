// Writes the batch script of a Slurm job that runs one agent on one node.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "tools/cli/launcher/agent_fleet.h"

namespace meshwright::cli {

// SlurmJobFlags holds what the user may set for a job. Empty texts stand for the cluster's
// defaults.
struct SlurmJobFlags {
  std::string partition;
  std::string time_limit;  // "HH:MM:SS", "D-HH:MM:SS" or minutes
  std::string account;
  // This is not a flag. It identifies the owner of the jobs, which finds them by it after a
  // restart. If it is empty, the submitting process owns them while it runs.
  std::string owner = {};
};

// Returns InvalidArgument about a flag whose value sbatch would misread.
absl::Status Check(const SlurmJobFlags& flags);

// Returns the script, which `sbatch` reads from its standard input. It depends on the arguments
// alone. The job has a node to itself, with all its processors, memory and GPUs. The agent is the
// job's only task and gets Slurm's SIGTERM. Slurm does not requeue the job; the program that
// watches it decides whether another follows.
std::string BatchScript(const AgentFleet& fleet, const SlurmJobFlags& flags,
                        const std::string& program, std::string_view agent);

// Returns the name of the file that gets the job's output, in the folder of the submission.
std::string BatchLogFile(std::string_view agent, std::string_view job);

}  // namespace meshwright::cli

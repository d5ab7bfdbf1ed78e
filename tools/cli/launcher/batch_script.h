// BatchScript() writes the batch script of a Slurm job that runs one agent on one node.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "tools/cli/launcher/agent_fleet.h"

namespace meshwright::cli {

// SlurmJobFlags holds the settings of a job that the user may change. Empty texts stand for the
// cluster's defaults.
struct SlurmJobFlags {
  std::string partition;
  std::string time_limit;  // "HH:MM:SS", "D-HH:MM:SS" or minutes
  std::string account;
  // Not a flag: the name of the owner of the jobs. After a restart, the owner finds its jobs by
  // this name. If it is empty, the submitting process owns the jobs while it runs.
  std::string owner = {};
};

// Returns InvalidArgument, which names the flag, if sbatch would misread the value of a flag.
absl::Status Check(const SlurmJobFlags& flags);

// Returns the script, which `sbatch` reads from its standard input. The script depends on the
// arguments alone. The job has a whole node, with all processors, memory and GPUs. The agent is the
// job's only task and gets Slurm's SIGTERM. Slurm does not requeue the job; the program that
// watches the job decides whether another job follows.
std::string BatchScript(const AgentFleet& fleet, const SlurmJobFlags& flags,
                        const std::string& program, std::string_view agent);

// Returns the name of the file to which Slurm writes the job's output. The file is in the folder
// from which the job was submitted.
std::string BatchLogFile(std::string_view agent, std::string_view job);

}  // namespace meshwright::cli

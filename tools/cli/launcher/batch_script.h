// BatchScript() writes the batch script of a Slurm job that runs an agent on each of its nodes, and
// ArrayScript() that of a job array whose tasks are such jobs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "tools/cli/launcher/agent_fleet.h"
#include "tools/cli/launcher/sbatch_template.h"

namespace meshwright::cli {

// SlurmJobFlags holds the settings of a job that the user may change. Empty texts stand for the
// cluster's defaults.
struct SlurmJobFlags {
  std::string partition;
  std::string time_limit;  // "HH:MM:SS", "D-HH:MM:SS" or minutes
  std::string account;
  // Further options of sbatch, such as "--switches=1" or "--segment=4", each for a line of its own.
  // None may be one that BatchScript() itself writes.
  std::vector<std::string> more;
  // How many of the fleet's jobs run at once at most. If it is not 0, the jobs are tasks of arrays.
  int32_t array = 0;
  // Whether Slurm starts a job again under its number after a lost node or a preemption.
  bool requeue = false;
  std::string template_file = {};  // of the site's own script; empty if there is none
  // Not a flag: the text of template_file (ReadTemplate()).
  SbatchTemplate site_script = {};
  // Not a flag: the name of the owner of the jobs. After a restart, the owner finds its jobs by
  // this name. If it is empty, the submitting process owns the jobs while it runs.
  std::string owner = {};
};

// Returns InvalidArgument, which names the flag, if sbatch would misread the value of a flag.
absl::Status Check(const SlurmJobFlags& flags);

// Reads the file that flags.template_file names, if it names one, into flags.site_script. Returns
// InvalidArgument, which names the flag, if the file can't be read or is no SbatchTemplate.
absl::Status ReadTemplate(SlurmJobFlags& flags);

// Returns the command that runs these agents of the fleet as the tasks of one step of a Slurm job,
// one on each node. If one of several agents ends, the others run on.
std::vector<std::string> SrunWords(const AgentFleet& fleet, const std::string& program,
                                   const std::vector<std::string>& agents);

// Returns the script of the fleet's job `job`, which `sbatch` reads from its standard input. The
// script depends on the arguments alone. The job has whole nodes, with all processors, memory and
// GPUs. The agents are the job's only tasks and get Slurm's SIGTERM; if one of several agents ends,
// the others run on. Unless SlurmJobFlags::requeue is set, Slurm does not requeue the job; the
// program that watches the job decides whether another job follows. A site's own script decides
// about memory and whole nodes if it has options for them. REQUIRES: `job` is one of JobNames().
std::string BatchScript(const AgentFleet& fleet, const SlurmJobFlags& flags,
                        const std::string& program, std::string_view job);

// Returns the script of an array of the fleet's jobs `jobs`, of which at most `at_once` run at
// once. The array has the fleet's name, and a task's number is the number of the first of its
// agents.
std::string ArrayScript(const AgentFleet& fleet, const SlurmJobFlags& flags,
                        const std::string& program, const std::vector<std::string>& jobs,
                        int32_t at_once);

// Returns the script that `agents up --dry-run` shows: that of the first job, or of the first
// array.
std::string FirstScript(const AgentFleet& fleet, const SlurmJobFlags& flags,
                        const std::string& program);

// Returns the name of the file to which Slurm writes the job's output. The file is in the folder
// from which the job was submitted.
std::string BatchLogFile(std::string_view name, std::string_view job);

}  // namespace meshwright::cli

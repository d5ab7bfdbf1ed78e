// CommandQueue reaches any batch queue through three commands that the user states, such as
// "qsub {script}", "qstat …" and "qdel {job}".
//
// The folder holds a script for each agent, and the name of the agent's last job. A process that
// uses the folder of an earlier process therefore finds the earlier jobs.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/system/unique_fd.h"
#include "tools/cli/launcher/job_queue.h"

namespace meshwright::cli {

// Commands for `/bin/sh -c`. Names in braces stand for values, which are quoted for the shell.
struct QueueCommands {
  // Submits {script}, a shell script that runs an agent until the agent ends. {name} is the agent's
  // name. The last line of the output is the job's name or number.
  std::string submit;
  // Prints a line for each of {jobs} that the queue knows: the job, its state, and further words
  // that a log may show, such as its node. A job without a line has ended. Other lines are ignored,
  // so the command may as well print all jobs.
  std::string status;
  std::string cancel;  // ends {job}
  std::string folder;  // of scripts and jobs; empty: the fleet's name, then ".jobs"
};

// Returns InvalidArgument, which names the flag, if a command is missing or lacks {script} or
// {job}.
absl::Status Check(const QueueCommands& commands);

// Returns the phase that a job's state stands for. Knows the states of PBS, LSF, Grid Engine,
// HTCondor, Flux and Slurm, and the words waiting, running, ending and ended. Returns
// InvalidArgument for any other word.
absl::StatusOr<JobPhase> PhaseOfState(std::string_view state);

// Returns the script of an agent's job. The script does not depend on the queue.
std::string AgentScript(const AgentJobSpec& spec);

class CommandQueue : public JobQueue {
 public:
  // The owner of all jobs of a CommandQueue. Its folder has no jobs of other owners.
  static constexpr char kOwner[] = "folder";

  // Makes the folder and locks it. Returns FailedPrecondition if another process holds the lock or
  // the folder can't be written.
  static absl::StatusOr<std::shared_ptr<const CommandQueue>> Open(InputProgramRunner run,
                                                                  QueueCommands commands);

  std::string name() const override { return "The queue"; }
  std::string HowToEnd(std::string_view job) const override;
  std::string HowToList() const override;
  std::string OutputOf(std::string_view agent, std::string_view job) const override;
  absl::Status Check(const AgentJobSpec&) const override { return absl::OkStatus(); }
  absl::StatusOr<std::string> Submit(const AgentJobSpec& spec) const override;
  absl::StatusOr<std::vector<QueuedJob>> List(
      const std::vector<std::string>& agents) const override;
  absl::Status Cancel(const std::vector<std::string>& jobs) const override;

 private:
  CommandQueue(InputProgramRunner run, QueueCommands commands, UniqueFd lock);

  absl::StatusOr<std::string> Run(const std::string& command) const;
  std::string PathOf(std::string_view agent, std::string_view ending) const;

  InputProgramRunner run_;
  QueueCommands commands_;
  UniqueFd lock_;
};

}  // namespace meshwright::cli

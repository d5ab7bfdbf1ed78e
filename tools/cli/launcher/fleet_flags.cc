#include "tools/cli/launcher/fleet_flags.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/system/run_program.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"

namespace meshwright::cli {

std::vector<CLI::Option*> AddAgentFlags(CLI::App& command, AgentFleet& fleet) {
  return {
      command
          .add_option("--devices", fleet.devices_text,
                      "Devices of each node: N ranks on its CPUs, or its GPUs")
          ->option_text("cpu:N|cuda"),
      command
          .add_option("--gpus-per-node", fleet.gpus_per_node,
                      "GPUs to request on each node; required on Kubernetes with --devices cuda")
          ->option_text("N"),
      command
          .add_option("--job-name", fleet.name,
                      "Name of agents and jobs; -1, -2 and so on are appended to it")
          ->capture_default_str()
          ->option_text("NAME"),
      command
          .add_option("agent_flags", fleet.more, "After --: further flags for `meshwright agent`")
          ->option_text("FLAG")};
}

std::vector<CLI::Option*> AddSlurmFlags(CLI::App& command, AgentFleet& fleet, SlurmJobFlags& job,
                                        double& poll_s) {
  const auto add = [&command](const char* name, std::string& value, const char* description,
                              const char* text) {
    return command.add_option(name, value, description)->option_text(text);
  };
  return {
      add("--partition", job.partition, "Slurm: partition of the jobs", "NAME"),
      add("--time", job.time_limit,
          "Slurm: time limit of each job; the next job starts when it ends", "HH:MM:SS|MINUTES"),
      add("--account", job.account, "Slurm: account that the jobs are charged to", "NAME"),
      command
          .add_option("--nodes-per-job", fleet.nodes_per_job,
                      "Slurm: nodes of one job, for trials that need neighbours")
          ->capture_default_str()
          ->option_text("K"),
      command
          .add_option("--array", job.array,
                      "Slurm: submit the jobs as tasks of arrays, of which at most M run at once")
          ->option_text("M"),
      command.add_flag("--requeue", job.requeue,
                       "Slurm: let Slurm start a job again after a lost node or a preemption"),
      add("--sbatch-template", job.template_file,
          "Slurm: the site's batch script, in which the line {agents} starts the agents", "FILE"),
      command
          .add_option(
              "--sbatch", job.more,
              "Slurm: a further option of sbatch, as --sbatch=--switches=1; may be repeated")
          ->allow_extra_args(false)
          ->option_text("OPTION"),
      command.add_option("--poll-s", poll_s, "Seconds between polls of the queue")
          ->capture_default_str()
          ->option_text("S")};
}

std::vector<CLI::Option*> AddQueueFlags(CLI::App& command, QueueCommands& commands) {
  const auto add = [&command](const char* name, std::string& value, const char* description,
                              const char* text) {
    return command.add_option(name, value, description)->option_text(text);
  };
  return {
      add("--submit", commands.submit,
          "Command: submits {script}, which runs the agent {name}, and prints the job in its "
          "last line",
          "COMMAND"),
      add("--status", commands.status,
          "Command: prints a line \"JOB STATE\" for each of {jobs} that has not ended", "COMMAND"),
      add("--cancel", commands.cancel, "Command: ends {job}", "COMMAND"),
      add("--jobs-dir", commands.folder,
          "Command: folder of scripts and jobs, which nodes and a restart find there; default: "
          "the agents' name with .jobs",
          "DIR")};
}

absl::Status CheckIsEmpty(std::string_view field, const std::string& value,
                          std::string_view launcher) {
  if (value.empty()) return absl::OkStatus();
  return FieldError(field, value,
                    absl::StrCat("goes with --launcher ", AbslView(launcher), " only"));
}

absl::Status CheckIsEmpty(const SlurmJobFlags& job) {
  RETURN_IF_ERROR(CheckIsEmpty("partition", job.partition, "slurm"));
  RETURN_IF_ERROR(CheckIsEmpty("time", job.time_limit, "slurm"));
  RETURN_IF_ERROR(CheckIsEmpty("account", job.account, "slurm"));
  RETURN_IF_ERROR(CheckIsEmpty("sbatch_template", job.template_file, "slurm"));
  RETURN_IF_ERROR(CheckIsEmpty("array", job.array == 0 ? "" : absl::StrCat(job.array), "slurm"));
  RETURN_IF_ERROR(CheckIsEmpty("requeue", job.requeue ? "true" : "", "slurm"));
  return CheckIsEmpty("sbatch", job.more.empty() ? "" : job.more.front(), "slurm");
}

absl::Status CheckIsEmpty(const QueueCommands& commands) {
  RETURN_IF_ERROR(CheckIsEmpty("submit", commands.submit, "command"));
  RETURN_IF_ERROR(CheckIsEmpty("status", commands.status, "command"));
  RETURN_IF_ERROR(CheckIsEmpty("cancel", commands.cancel, "command"));
  return CheckIsEmpty("jobs_dir", commands.folder, "command");
}

absl::Status CheckIsByNode(const AgentFleet& fleet) {
  if (fleet.nodes_per_job == 1) return absl::OkStatus();
  return FieldError("nodes_per_job", fleet.nodes_per_job, "goes with --launcher slurm only");
}

absl::StatusOr<QueueOfFleet> OpenCommandQueue(QueueCommands commands, const AgentFleet& fleet) {
  RETURN_IF_ERROR(Check(commands));
  if (commands.folder.empty()) commands.folder = fleet.name + ".jobs";
  ASSIGN_OR_RETURN(std::shared_ptr<const CommandQueue> queue,
                   CommandQueue::Open(RunProgramOn, std::move(commands)));
  return QueueOfFleet{.queue = std::move(queue), .owner = CommandQueue::kOwner};
}

}  // namespace meshwright::cli

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/system/monotonic_time.h"
#include "base/system/run_program.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "tools/cli/commands.h"
#include "tools/cli/common/devices_flag.h"
#include "tools/cli/common/stop_request.h"
#include "tools/cli/io/log_sink.h"
#include "tools/cli/launcher/agent_fleet.h"
#include "tools/cli/launcher/batch_script.h"
#include "tools/cli/launcher/fleet_flags.h"
#include "tools/cli/launcher/fleet_jobs.h"
#include "tools/cli/launcher/job_set.h"
#include "tools/cli/launcher/shell_words.h"
#include "tools/cli/launcher/slurm_queue.h"
#include "tools/command_line/declare.h"

namespace meshwright::cli {
namespace {

enum class LauncherKind : uint8_t { kSlurm, kSrun, kKubernetes, kCommand };

struct UpFlags {
  LauncherKind launcher = LauncherKind::kSlurm;
  AgentFleet fleet;
  bool dry_run = false;
  SlurmJobFlags job;
  double poll_s = 10.0;
  QueueCommands commands;
  KubernetesLaunch kubernetes;
  LogFlags log;
};

// A flag of another launcher would be ignored silently.
absl::Status CheckFlagsOfOthers(const UpFlags& flags) {
  const bool is_slurm = flags.launcher == LauncherKind::kSlurm;
  const bool is_kubernetes = flags.launcher == LauncherKind::kKubernetes;
  if (!is_slurm) RETURN_IF_ERROR(CheckIsEmpty(flags.job));
  if (!is_slurm && !is_kubernetes) RETURN_IF_ERROR(CheckIsByNode(flags.fleet));
  if (flags.launcher != LauncherKind::kCommand) RETURN_IF_ERROR(CheckIsEmpty(flags.commands));
  return is_kubernetes ? absl::OkStatus() : CheckIsEmpty(flags.kubernetes);
}

absl::Status UpByQueue(const UpFlags& flags, QueueOfFleet queue, CommandContext& context) {
  const FleetLaunch launch = {.fleet = flags.fleet,
                              .owner = std::move(queue.owner),
                              .program = context.binary_dir + "/meshwright",
                              .poll = absl::Seconds(flags.poll_s)};
  const StopRequest stop(context);
  RETURN_IF_ERROR(RunLaunch(launch, {.queue = std::move(queue.queue),
                                     .log = MakeLog(context.err, flags.log, absl::Now),
                                     .clock = MonotonicNow,
                                     .sleep = absl::SleepFor,
                                     .stopped = [&stop] { return stop.Requested(); }}));
  // SIGTERM is how a service ends; Ctrl-C interrupts.
  if (!stop.Terminated()) context.exit_code = stop.exit_code();
  return absl::OkStatus();
}

absl::Status UpBySlurm(const UpFlags& flags, CommandContext& context) {
  RETURN_IF_ERROR(Check(flags.job));
  RETURN_IF_ERROR(CheckPositive("poll_s", flags.poll_s));
  SlurmJobFlags job = flags.job;
  RETURN_IF_ERROR(ReadTemplate(job));
  if (flags.dry_run) {
    context.out << FirstScript(flags.fleet, job, context.binary_dir + "/meshwright");
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(CheckAccess(flags.fleet));
  return UpByQueue(flags, {.queue = std::make_shared<SlurmQueue>(RunProgramOn, std::move(job))},
                   context);
}

// The files of the agents' access are in the pods, not here.
absl::Status UpByKubernetes(const UpFlags& flags, CommandContext& context) {
  RETURN_IF_ERROR(CheckPositive("poll_s", flags.poll_s));
  if (flags.dry_run) {
    RETURN_IF_ERROR(Check(flags.fleet, flags.kubernetes.pods));
    context.out << JobSets(flags.fleet, flags.kubernetes.pods);
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(QueueOfFleet queue, OpenKubernetesQueue(flags.kubernetes, flags.fleet));
  return UpByQueue(flags, std::move(queue), context);
}

// Becomes srun, which then gets the signals. Returns only if that fails, or after a dry run.
absl::Status UpBySrun(const UpFlags& flags, CommandContext& context) {
  RETURN_IF_ERROR(CheckRange("nodes", flags.fleet.nodes, 1, kMostNodesPerJob));
  std::vector<std::string> words =
      SrunWords(flags.fleet, context.binary_dir + "/meshwright", AgentNames(flags.fleet));
  std::vector<std::string> step = {absl::StrCat("--nodes=", flags.fleet.nodes)};
  if (flags.fleet.gpus_per_node > 0) {
    step.push_back(absl::StrCat("--gpus-per-node=", flags.fleet.gpus_per_node));
  }
  words.insert(words.begin() + 1, step.begin(), step.end());
  if (flags.dry_run) {
    context.out << ShellLine(words) << "\n";
    return absl::OkStatus();
  }
  if (std::getenv("SLURM_JOB_ID") == nullptr) {
    return FieldError("launcher", "srun",
                      "needs an allocation of Slurm, and SLURM_JOB_ID is not set: run it below "
                      "salloc or in a batch script, or take --launcher slurm");
  }
  RETURN_IF_ERROR(CheckAccess(flags.fleet));
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  // This program ignores it, and srun would inherit that.
  std::signal(SIGPIPE, SIG_DFL);
  ::execvp(argv.front(), argv.data());
  return absl::FailedPreconditionError(absl::StrCat("can't start srun: ", std::strerror(errno)));
}

absl::Status UpByCommand(const UpFlags& flags, CommandContext& context) {
  RETURN_IF_ERROR(Check(flags.commands));
  RETURN_IF_ERROR(CheckPositive("poll_s", flags.poll_s));
  if (flags.dry_run) {
    context.out << AgentScript(
        {flags.fleet, context.binary_dir + "/meshwright", "", AgentNames(flags.fleet).front()});
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(CheckAccess(flags.fleet));
  ASSIGN_OR_RETURN(QueueOfFleet queue, OpenCommandQueue(flags.commands, flags.fleet));
  return UpByQueue(flags, std::move(queue), context);
}

absl::Status Up(UpFlags& flags, CommandContext& context) {
  ASSIGN_OR_RETURN(flags.fleet.devices, ParseDevices(flags.fleet.devices_text));
  RETURN_IF_ERROR(Check(flags.fleet));
  RETURN_IF_ERROR(CheckFlagsOfOthers(flags));
  switch (flags.launcher) {
    case LauncherKind::kSlurm:
      return UpBySlurm(flags, context);
    case LauncherKind::kSrun:
      return UpBySrun(flags, context);
    case LauncherKind::kKubernetes:
      return UpByKubernetes(flags, context);
    case LauncherKind::kCommand:
      break;
  }
  return UpByCommand(flags, context);
}

void AddFleetFlags(CLI::App& command, UpFlags& flags, const CommandContext& context) {
  command_line::AddEnumOption(command, "--launcher", flags.launcher, "Who gives out the nodes",
                              {{"slurm", LauncherKind::kSlurm},
                               {"srun", LauncherKind::kSrun},
                               {"kubernetes", LauncherKind::kKubernetes},
                               {"command", LauncherKind::kCommand}})
      ->required();
  AgentFleet& fleet = flags.fleet;
  command.add_option("--nodes", fleet.nodes, "Nodes to ask for, each with one agent")
      ->required()
      ->option_text("N");
  fleet.server.Add(command,
                   "Server that the agents work for; {name} in the paths of the flags below stands "
                   "for the agent's name",
                   context);
  AddAgentFlags(command, fleet);
  command.get_option("--devices")->required();
  command.add_flag("--dry-run", flags.dry_run,
                   "Print the first job's script, srun's line or all JobSets, and start nothing");
}

void AddLauncherFlags(CLI::App& command, UpFlags& flags) {
  AddSlurmFlags(command, flags.fleet, flags.job, flags.poll_s);
  AddQueueFlags(command, flags.commands);
  AddKubernetesFlags(command, flags.kubernetes);
  flags.log.Add(command);
}

}  // namespace

void AddAgentsUpCommand(CLI::App& group, CommandContext& context) {
  const auto flags = std::make_shared<UpFlags>();
  CLI::App* command =
      group.add_subcommand("up", "Keep an agent on each of N nodes that a batch queue gives out");
  AddFleetFlags(*command, *flags, context);
  AddLauncherFlags(*command, *flags);
  command_line::AddExample(*command,
                           "meshwright agents up --launcher slurm --nodes 4 --server "
                           "10.0.0.1:7077 --devices cuda --dry-run");
  command_line::AddExample(*command,
                           "meshwright agents up --launcher kubernetes --nodes 4 --server "
                           "10.0.0.1:7077 --devices cuda --gpus-per-node 8 --image "
                           "meshwright:1 --dry-run");
  command_line::AddExample(*command,
                           "meshwright agents up --launcher command --nodes 4 --server "
                           "10.0.0.1:7077 --devices cuda --submit 'qsub {script}' --status "
                           "./states --cancel 'qdel {job}'");
  command->callback([flags, &context] {
    const absl::Status status = Up(*flags, context);
    if (!status.ok()) context.exit_code = ReportError(context, OutputFormat::kText, status);
  });
}

}  // namespace meshwright::cli

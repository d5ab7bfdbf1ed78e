#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "base/system/run_program.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "executor/agent/agent.h"
#include "executor/agent/state_dir.h"
#include "executor/command/command_member.h"
#include "executor/command/command_trial.h"
#include "executor/gang/gang_runner.h"
#include "executor/gang/own_address.h"
#include "executor/guard/delegated_cgroup.h"
#include "executor/host/cores.h"
#include "executor/host/host.h"
#include "executor/host/host_load.h"
#include "executor/trial/trial_runner.h"
#include "executor/trial/worker_version.h"
#include "planner/catalog/catalog.h"
#include "proto/meshwright/v1/resource_names.h"
#include "tools/cli/commands.h"
#include "tools/cli/common/agent_state.h"
#include "tools/cli/common/benchmark_text.h"
#include "tools/cli/common/device_profile.h"
#include "tools/cli/common/devices_flag.h"
#include "tools/cli/common/quiet_benchmark.h"
#include "tools/cli/common/runner_flags.h"
#include "tools/cli/common/server_flags.h"
#include "tools/cli/common/stop_request.h"
#include "tools/cli/io/grpc_log.h"
#include "tools/cli/io/input_error.h"
#include "tools/cli/io/log_sink.h"
#include "tools/command_line/declare.h"

namespace meshwright::cli {
namespace {

struct AgentFlags {
  ServerFlags server;
  std::string devices;
  std::string name;
  std::string worker;
  std::string state_dir;
  std::string advertise;
  int32_t slots = 1;
  LogFlags log;
  std::optional<double> memory_limit_gib;
  std::vector<std::string> runners;  // NAME=FILE
  bool benchmark = false;
  bool no_benchmark = false;
  double benchmark_budget_s = trial::BenchmarkPlan().budget_s;
};

// Logs about an agent that does not exist yet and so can't log itself.
void SayOfAgent(const agent::AgentOptions& options, LogLevel level, std::string message) {
  options.log({.level = level, .message = std::move(message), .about = {.agent = options.name}});
}

// A benchmark of the devices is valid for every agent with the same devices.
std::string BenchmarkDir(const AgentFlags& flags) {
  const std::string state = flags.state_dir.empty() ? SharedStateDir() : flags.state_dir;
  return state.empty() ? "" : state + "/benchmarks";
}

absl::StatusOr<agent::AgentOptions> ReadOptions(const AgentFlags& flags, CommandContext& context) {
  agent::AgentOptions options;
  ASSIGN_OR_RETURN(std::vector<ServerAccess> servers, flags.server.ReadAll());
  options.server = std::move(servers.front());
  servers.erase(servers.begin());
  options.other_servers = std::move(servers);
  // Workers inherit the environment, and have no use for the agent's token.
  unsetenv(kTokenVariable);
  if (flags.memory_limit_gib) {
    ASSIGN_OR_RETURN(options.memory_limit_bytes, ParseMemoryLimit(*flags.memory_limit_gib));
  }
  options.host = host::HostName();
  options.name = flags.name.empty() ? options.host : flags.name;
  RETURN_IF_ERROR(WithField(CheckAgentName(options.name), "name"));
  options.version = std::string(trial::WorkerVersion());
  options.worker_path = flags.worker.empty() ? context.worker_path() : flags.worker;
  if (access(options.worker_path.c_str(), X_OK) != 0) {
    return FieldError("worker", options.worker_path, "is not a program that can be run");
  }
  RETURN_IF_ERROR(trial::CheckWorkerVersion(options.worker_path, RunProgram));
  ASSIGN_OR_RETURN(options.devices, ResolveDevices(flags.devices, options.worker_path, context));
  options.devices.slots = flags.slots;
  RETURN_IF_ERROR(wire::CheckSlots(options.devices, context.host_cores));
  options.log = MakeLog(context.err, flags.log, absl::Now);
  return options;
}

trial::BenchmarkPlan PlanOf(const AgentFlags& flags, const agent::AgentOptions& options) {
  return {.device = options.devices.kind,
          .ranks = options.devices.count,
          .budget_s = flags.benchmark_budget_s};
}

constexpr absl::Duration kLoadWindow = absl::Milliseconds(200);

absl::StatusOr<QuietBenchmark> MeasuredNow(const agent::AgentOptions& options,
                                           const trial::BenchmarkPlan& plan,
                                           const StopRequest& stop) {
  SayOfAgent(
      options, LogLevel::kInfo,
      absl::StrFormat("measuring the devices for about %.1f s (--no-benchmark leaves it out)",
                      plan.budget_s));
  return MeasureWhileQuiet(
      [&] {
        return MeasureDevices(plan, {.worker_path = options.worker_path,
                                     .cancelled = [&stop] { return stop.Requested(); },
                                     .progress = {}});
      },
      [] { return host::IdleShareDuring([] { absl::SleepFor(kLoadWindow); }); },
      [&options](double idle_share) {
        SayOfAgent(
            options, LogLevel::kWarning,
            absl::StrFormat("the machine is busy: its processors are idle for %.0f %% of the "
                            "time, and a benchmark needs %.0f %%",
                            100.0 * idle_share, 100.0 * kQuietIdleShare));
      });
}

// Returns the benchmark that an earlier agent kept of the same devices, or measures them now. A
// benchmark beside other programs is not kept: the next agent measures again.
absl::StatusOr<QuietBenchmark> KeptOrMeasured(const AgentFlags& flags,
                                              const agent::AgentOptions& options,
                                              const StopRequest& stop) {
  const trial::BenchmarkPlan plan = PlanOf(flags, options);
  const std::string folder = BenchmarkDir(flags);
  const std::string path = folder.empty() ? "" : KeptBenchmarkPath(folder, plan);
  if (!flags.benchmark && !path.empty()) {
    if (const std::optional<planner::DeviceBenchmark> kept = ReadKeptBenchmark(path, plan)) {
      SayOfAgent(
          options, LogLevel::kInfo,
          absl::StrCat("devices as measured on ", kept->date, " (--benchmark measures again)"));
      return QuietBenchmark{*kept};
    }
  }
  ASSIGN_OR_RETURN(QuietBenchmark measured, MeasuredNow(options, plan, stop));
  if (path.empty() || !measured.quiet()) return measured;
  if (const absl::Status status = KeepBenchmark(path, measured.benchmark); !status.ok()) {
    SayOfAgent(options, LogLevel::kWarning,
               absl::StrCat("can't keep what was measured: ", status.message()));
  }
  return measured;
}

absl::StatusOr<planner::ClusterSpec> MeasuredCluster(const AgentFlags& flags,
                                                     const agent::AgentOptions& options,
                                                     const StopRequest& stop,
                                                     CommandContext& context) {
  ASSIGN_OR_RETURN(const QuietBenchmark measured, KeptOrMeasured(flags, options, stop));
  ASSIGN_OR_RETURN(const std::vector<planner::ClusterSpec> known,
                   BaseClusters(context.files, /*base=*/"", context.host_cores));
  ASSIGN_OR_RETURN(planner::BenchmarkedCluster made, ProfileOf(measured.benchmark, known));
  if (!measured.quiet()) MarkBusy(measured.idle_share, made.cluster);
  int64_t& memory_bytes = made.cluster.device.memory_bytes;
  memory_bytes = std::min(memory_bytes, options.memory_limit_bytes.value_or(memory_bytes));
  return made.cluster;
}

// Returns the text of a cluster file; empty if there is none: the agent then runs without one,
// and only logs what went wrong.
std::string ClusterOfDevices(const AgentFlags& flags, const agent::AgentOptions& options,
                             const StopRequest& stop, CommandContext& context) {
  if (flags.no_benchmark) return "";
  const absl::StatusOr<planner::ClusterSpec> cluster =
      MeasuredCluster(flags, options, stop, context);
  if (!cluster.ok()) {
    SayOfAgent(options, LogLevel::kWarning,
               absl::StrCat("there is no measured profile: ", cluster.status().message()));
    return "";
  }
  SayOfAgent(options, LogLevel::kInfo, absl::StrCat("devices reach ", SummaryOf(*cluster)));
  return planner::ClusterToJson(*cluster);
}

using CommandRunners = std::map<std::string, command::Runner>;

// Reads the files of --runner.
absl::StatusOr<CommandRunners> ReadRunners(const AgentFlags& flags) {
  ASSIGN_OR_RETURN(const auto files, ParseFieldValues("runner", flags.runners));
  if (files.size() > wire::kMostRunners) {
    return CheckRange("runner", static_cast<int64_t>(files.size()), 0, wire::kMostRunners);
  }
  CommandRunners runners;
  for (const auto& [name, file] : files) {
    RETURN_IF_ERROR(WithField(CheckAgentName(name), "runner"));
    ASSIGN_OR_RETURN(command::Runner runner, command::ReadRunner(file));
    runner.name = name;
    runners.emplace(name, std::move(runner));
  }
  return runners;
}

std::vector<wire::RunnerOffer> OffersOf(const CommandRunners& runners) {
  std::vector<wire::RunnerOffer> offers;
  for (const auto& [name, runner] : runners) {
    wire::RunnerOffer offer{.name = name,
                            .hash = runner.hash,
                            .framework = runner.framework,
                            .export_to = runner.export_to,
                            .where = runner.where,
                            .runs_on_several_nodes = command::RunsOnSeveralNodes(runner)};
    for (const auto& [field, rule] : runner.fields) {
      // A list of words may be long.
      constexpr size_t kMostAcceptedBytes = 200;
      offer.fields.emplace(field, command::AcceptedBy(rule).substr(0, kMostAcceptedBytes));
    }
    offers.push_back(std::move(offer));
  }
  return offers;
}

trial::TrialResult NoSuchRunner() {
  return trial::FailedResult("the agent has no such runner", trial::Fault::kLayout);
}

agent::TrialRunners RunnersOn(const agent::AgentOptions& agent_options,
                              const CommandRunners& commands,
                              const command::CommandHost& command_host) {
  const wire::DeviceSet& devices = agent_options.devices;
  const auto with_devices = [devices](const trial::TrialRunnerOptions& given) {
    trial::TrialRunnerOptions options = given;
    options.device_memory_bytes = devices.memory_bytes;
    return options;
  };
  agent::TrialRunners runners;
  runners.alone = [with_devices, commands, command_host](const trial::TrialPlan& plan,
                                                         const trial::TrialRunnerOptions& given) {
    if (!plan.runner) return trial::RunTrial(plan, with_devices(given));
    const auto runner = commands.find(plan.runner->name);
    if (runner == commands.end()) return NoSuchRunner();
    return command::RunCommandTrial(plan, runner->second, command_host, given);
  };
  runners.together = [with_devices, commands, command_host](
                         const trial::TrialPlan& plan, const gang::Membership& place,
                         const trial::TrialRunnerOptions& given) {
    if (!plan.runner) return gang::RunMember(plan, place, with_devices(given));
    const auto runner = commands.find(plan.runner->name);
    if (runner == commands.end()) return NoSuchRunner();
    return command::RunCommandMember(plan, runner->second, command_host, place, given);
  };
  if (devices.slots == 1) return runners;
  runners.bind = [slots = devices.slots, cores = host::Cores(), log = agent_options.log,
                  name = agent_options.name](const wire::DeviceShare& share) {
    const absl::Status bound =
        host::BindThisThread(host::HardwareThreadsOf(cores, share.first_slot, share.slots, slots));
    if (bound.ok()) return;
    log({.level = LogLevel::kWarning,
         .message = absl::StrCat("trials that run side by side may slow each other down: ",
                                 bound.message()),
         .about = {.agent = name}});
  };
  return runners;
}

// Returns the address at which other agents reach this host: the flag's, or the one from which it
// reaches the server. Empty if that can't be determined.
absl::StatusOr<std::string> AddressOf(const AgentFlags& flags, const agent::AgentOptions& options) {
  if (!flags.advertise.empty()) {
    const absl::StatusOr<std::string> own = gang::OwnAddress(flags.advertise);
    if (own.ok()) return *own;
    return FieldError("advertise", flags.advertise,
                      absl::StrCat("must be an address of this host, or a name of one: ",
                                   own.status().message()));
  }
  const absl::StatusOr<std::string> address = gang::AddressTowards(options.server.address);
  if (address.ok()) return *address;
  SayOfAgent(
      options, LogLevel::kWarning,
      absl::StrCat("runs no trials together with other agents, which don't know where to reach ",
                   "it (--advertise): ", address.status().message()));
  return "";
}

// Lets each run of a command have a control group of its own, if the system delegated one to this
// process. Nobody needs it: without one, what is said is all that becomes of it.
void UseDelegatedCgroup(const agent::AgentOptions& options, command::CommandHost& host) {
  absl::StatusOr<guard::DelegatedCgroup> taken = guard::DelegatedCgroup::Take();
  if (!taken.ok()) {
    SayOfAgent(options, LogLevel::kInfo,
               absl::StrCat("commands of runners get no cgroups: ", taken.status().message()));
    return;
  }
  SayOfAgent(options, LogLevel::kInfo,
             absl::StrCat("commands of runners get cgroups below ", taken->path(),
                          taken->limits_memory() ? ", which limit their memory"
                                                 : ", which has no controller of memory"));
  host.make_group =
      [cgroup = std::make_shared<guard::DelegatedCgroup>(*std::move(taken)), log = options.log,
       name = options.name](int64_t memory_limit_bytes) -> std::optional<guard::RunGroup> {
    absl::StatusOr<guard::RunGroup> run = cgroup->MakeRun(memory_limit_bytes);
    if (run.ok()) return *std::move(run);
    log({.level = LogLevel::kWarning,
         .message = absl::StrCat("a command runs without a cgroup: ", run.status().message()),
         .about = {.agent = name}});
    return std::nullopt;
  };
}

absl::Status RunAgent(const AgentFlags& flags, CommandContext& context) {
  QuietGrpcLog();
  if (flags.benchmark && flags.no_benchmark) {
    return FieldError("benchmark", "true", "can't go with --no-benchmark");
  }
  ASSIGN_OR_RETURN(agent::AgentOptions options, ReadOptions(flags, context));
  ASSIGN_OR_RETURN(CommandRunners runners, ReadRunners(flags));
  options.offers = OffersOf(runners);
  // From here on there is something to end in order.
  const StopRequest stop(context);
  RETURN_IF_ERROR(RenameField(Validate(PlanOf(flags, options)), "budget_s", "benchmark_budget_s"));
  command::CommandHost command_host = HostOfCommands(context);
  if (!runners.empty()) UseDelegatedCgroup(options, command_host);
  std::random_device entropy;
  std::optional<agent::StateDir> state;
  if (const std::string folder =
          AgentStateDir(flags.state_dir, options.name, options.server.address);
      !folder.empty()) {
    ASSIGN_OR_RETURN(state, agent::StateDir::Open(folder, options.name, [&entropy] {
                       return uint64_t{entropy()} << 32 | entropy();
                     }));
    ASSIGN_OR_RETURN(command_host.work_folder, state->EmptyRuns());
    options.identity = state->identity();
    options.result_folder = state->results();
    options.epochs_file = state->epochs();
  }
  options.cluster_json = ClusterOfDevices(flags, options, stop, context);
  options.instance = absl::StrCat(getpid(), "-", entropy());
  options.uniform = [random = std::mt19937(entropy())]() mutable {
    return std::uniform_real_distribution<double>(0.0, 1.0)(random);
  };
  ASSIGN_OR_RETURN(options.address, AddressOf(flags, options));
  options.runners = RunnersOn(options, std::move(runners), command_host);
  agent::Agent agent(std::move(options));
  RETURN_IF_ERROR(agent.Run([&stop] { return stop.Requested(); }));
  // SIGTERM is how a service ends; Ctrl-C interrupts.
  if (stop.Requested() && !stop.Terminated()) context.exit_code = stop.exit_code();
  return absl::OkStatus();
}

}  // namespace

void AddAgentCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<AgentFlags>();
  CLI::App* command =
      app.add_subcommand("agent", "Run trials of a server's sweeps on this machine");
  flags->server.Add(*command, "Server to work for; its standbys follow it in the list", context,
                    kDefaultServer);
  command->add_option("--devices", flags->devices, "Ranks on this processor, or every GPU")
      ->required()
      ->option_text("cpu:N|cuda");
  command
      ->add_option("--name", flags->name,
                   "Letters, digits, '.', '-' and '_'; default: the host's name")
      ->option_text("NAME");
  command
      ->add_option("--memory-limit-gib", flags->memory_limit_gib,
                   "Most memory that each rank's allocator may hold")
      ->option_text("X");
  command->add_option("--worker", flags->worker, "Default: meshwright-worker beside this program")
      ->option_text("FILE");
  command
      ->add_option("--state-dir", flags->state_dir,
                   "Folder of this agent alone, for results that no server has yet and for the "
                   "measured profile of its devices; default: a folder in the user's state folder, "
                   "by the agent's name and server")
      ->option_text("DIR");
  command
      ->add_option("--advertise", flags->advertise,
                   "Address at which other agents reach this host, to run ranks of one trial "
                   "together; default: the address from which the host reaches the server")
      ->option_text("HOST");
  command
      ->add_option("--slots", flags->slots,
                   "Number of equal parts of the devices; the parts run trials simultaneously, "
                   "each on separate cores")
      ->capture_default_str()
      ->option_text("N");
  command
      ->add_option("--runner", flags->runners,
                   "Runner that sweeps may name (sweep start --runner): how this agent starts a "
                   "run of the user's own framework; may be repeated")
      ->allow_extra_args(false)
      ->option_text("NAME=FILE");
  flags->log.Add(*command);
  command->add_flag("--benchmark", flags->benchmark,
                    "Measure the devices even if a measurement exists");
  command->add_flag("--no-benchmark", flags->no_benchmark,
                    "Don't measure the devices; sweeps then can't plan for them");
  command
      ->add_option("--benchmark-budget-s", flags->benchmark_budget_s,
                   "Approximate time for measuring the devices")
      ->capture_default_str()
      ->option_text("S");
  command_line::AddExample(*command, "meshwright agent --server 127.0.0.1:7077 --devices cpu:4");
  command->callback([flags, &context] {
    const absl::Status status = RunAgent(*flags, context);
    if (!status.ok()) context.exit_code = ReportError(context, OutputFormat::kText, status);
  });
}

}  // namespace meshwright::cli

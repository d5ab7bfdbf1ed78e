#include "tools/cli/agent_command.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "executor/agent/agent.h"
#include "executor/host/host.h"
#include "executor/trial/version.h"
#include "planner/catalog/catalog.h"
#include "planner/spec/field_error.h"
#include "planner/spec/status_macros.h"
#include "tools/cli/benchmark_text.h"
#include "tools/cli/device_profile.h"
#include "tools/cli/devices_flag.h"
#include "tools/cli/grpc_log.h"
#include "tools/cli/input_error.h"
#include "tools/cli/server_client.h"
#include "tools/cli/stop_request.h"
#include "tools/command_line/declare.h"

namespace meshwright {
namespace {

struct AgentFlags {
  std::string server = kDefaultServer;
  std::string devices;
  std::string name;
  std::string worker;
  std::string state_dir;
  double memory_limit_gib = 0.0;
  bool benchmark = false;
  bool no_benchmark = false;
  double benchmark_budget_s = BenchmarkPlan().budget_s;
};

// Where results wait for a server: of the user, as for other programs' state.
std::string DefaultStateDir() {
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && *state != '\0') return absl::StrCat(state, "/meshwright");
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home != '\0') return absl::StrCat(home, "/.local/state/meshwright");
  return "";
}

std::string StateDir(const AgentFlags& flags) {
  return flags.state_dir.empty() ? DefaultStateDir() : flags.state_dir;
}

absl::StatusOr<AgentOptions> ReadOptions(const AgentFlags& flags, CommandContext& context) {
  AgentOptions options;
  RETURN_IF_ERROR(CheckServerAddress(flags.server));
  options.server = flags.server;
  if (flags.memory_limit_gib != 0.0) {
    ASSIGN_OR_RETURN(options.memory_limit_bytes, ParseMemoryLimit(flags.memory_limit_gib));
  }
  options.host = HostName();
  options.name = flags.name.empty() ? absl::StrCat(options.host, "-", getpid()) : flags.name;
  options.version = std::string(WorkerVersion());
  options.worker_path = flags.worker.empty() ? context.worker_path() : flags.worker;
  if (access(options.worker_path.c_str(), X_OK) != 0) {
    return FieldError("worker", options.worker_path, "is not a program that can be run");
  }
  ASSIGN_OR_RETURN(options.devices, ResolveDevices(flags.devices, options.worker_path, context));
  const std::string state = StateDir(flags);
  if (!state.empty()) options.result_folder = state + "/results";
  return options;
}

BenchmarkPlan PlanOf(const AgentFlags& flags, const AgentOptions& options) {
  return {.device = options.devices.kind,
          .ranks = options.devices.count,
          .budget_s = flags.benchmark_budget_s};
}

// What an earlier agent measured of the same devices, or else what they reach now.
absl::StatusOr<DeviceBenchmark> KeptOrMeasured(const AgentFlags& flags, const AgentOptions& options,
                                               const StopRequest& stop, CommandContext& context) {
  const BenchmarkPlan plan = PlanOf(flags, options);
  const std::string state = StateDir(flags);
  const std::string path = state.empty() ? "" : KeptBenchmarkPath(state + "/benchmarks", plan);
  if (!flags.benchmark && !path.empty()) {
    if (const std::optional<DeviceBenchmark> kept = ReadKeptBenchmark(path, plan)) {
      context.err << "devices as measured on " << kept->date << " (--benchmark measures again)"
                  << std::endl;
      return *kept;
    }
  }
  context.err << absl::StrFormat(
                     "measuring the devices for about %.1f s (--no-benchmark leaves it out)",
                     plan.budget_s)
              << std::endl;
  ASSIGN_OR_RETURN(DeviceBenchmark benchmark,
                   MeasureDevices(plan, {.worker_path = options.worker_path,
                                         .cancelled = [&stop] { return stop.Requested(); },
                                         .progress = {}}));
  if (path.empty()) return benchmark;
  if (const absl::Status status = KeepBenchmark(path, benchmark); !status.ok()) {
    context.err << "can't keep what was measured: " << status.message() << std::endl;
  }
  return benchmark;
}

absl::StatusOr<ClusterSpec> MeasuredCluster(const AgentFlags& flags, const AgentOptions& options,
                                            const StopRequest& stop, CommandContext& context) {
  ASSIGN_OR_RETURN(const DeviceBenchmark benchmark, KeptOrMeasured(flags, options, stop, context));
  ASSIGN_OR_RETURN(BenchmarkedCluster made, ProfileOf(benchmark, /*base=*/"", context.host_cores));
  int64_t& memory_bytes = made.cluster.device.memory_bytes;
  memory_bytes = std::min(memory_bytes, options.memory_limit_bytes.value_or(memory_bytes));
  return made.cluster;
}

// Text of a cluster file, empty where there is none: the agent then works all the same, and what
// went wrong is only said.
std::string ClusterOfDevices(const AgentFlags& flags, const AgentOptions& options,
                             const StopRequest& stop, CommandContext& context) {
  if (flags.no_benchmark) return "";
  const absl::StatusOr<ClusterSpec> cluster = MeasuredCluster(flags, options, stop, context);
  if (!cluster.ok()) {
    context.err << "there is no measured profile: " << cluster.status().message() << std::endl;
    return "";
  }
  context.err << "devices reach " << SummaryOf(*cluster) << std::endl;
  return ClusterToJson(*cluster);
}

absl::Status RunAgent(const AgentFlags& flags, CommandContext& context) {
  const StopRequest stop(context);
  QuietGrpcLog();
  if (flags.benchmark && flags.no_benchmark) {
    return FieldError("benchmark", "true", "can't go with --no-benchmark");
  }
  ASSIGN_OR_RETURN(AgentOptions options, ReadOptions(flags, context));
  RETURN_IF_ERROR(RenameField(Validate(PlanOf(flags, options)), "budget_s", "benchmark_budget_s"));
  options.cluster_json = ClusterOfDevices(flags, options, stop, context);
  std::random_device entropy;
  options.instance = absl::StrCat(getpid(), "-", entropy());
  options.uniform = [random = std::mt19937(entropy())]() mutable {
    return std::uniform_real_distribution<double>(0.0, 1.0)(random);
  };
  options.runner = RunTrial;
  options.clock = absl::Now;
  options.log = [&context](const std::string& line) { context.err << line << std::endl; };
  Agent agent(std::move(options));
  RETURN_IF_ERROR(agent.Run([&stop] { return stop.Requested(); }));
  if (stop.Interrupted()) context.exit_code = kExitInterrupted;
  return absl::OkStatus();
}

}  // namespace

void AddAgentCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<AgentFlags>();
  CLI::App* command =
      app.add_subcommand("agent", "Run trials of a server's sweeps on this machine");
  command->add_option("--server", flags->server, "Server to work for")
      ->capture_default_str()
      ->option_text("HOST:PORT")
      ->group(kCommonFlags);
  command->add_option("--devices", flags->devices, "Ranks on this processor, or every GPU")
      ->required()
      ->option_text("cpu:N|cuda");
  command->add_option("--name", flags->name, "Default: the host's name and the process id")
      ->option_text("NAME");
  command
      ->add_option("--memory-limit-gib", flags->memory_limit_gib,
                   "What each rank's allocator may hold")
      ->option_text("X");
  command->add_option("--worker", flags->worker, "Default: meshwright-worker beside this program")
      ->option_text("FILE");
  command
      ->add_option("--state-dir", flags->state_dir,
                   "Where results wait until a server has them, and what was measured of the "
                   "devices is kept; default: the user's state folder")
      ->option_text("DIR");
  command->add_flag("--benchmark", flags->benchmark,
                    "Measure the devices although a measurement is kept");
  command->add_flag("--no-benchmark", flags->no_benchmark,
                    "Don't measure the devices; no sweep can plan with them");
  command
      ->add_option("--benchmark-budget-s", flags->benchmark_budget_s,
                   "What measuring the devices may take, about")
      ->capture_default_str()
      ->option_text("S");
  AddExample(*command, "meshwright agent --server 127.0.0.1:7077 --devices cpu:4");
  command->callback([flags, &context] {
    const absl::Status status = RunAgent(*flags, context);
    if (!status.ok()) context.exit_code = ReportError(context, OutputFormat::kText, status);
  });
}

}  // namespace meshwright

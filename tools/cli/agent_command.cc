#include "tools/cli/agent_command.h"

#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "executor/agent/agent.h"
#include "executor/host/host.h"
#include "executor/trial/version.h"
#include "planner/spec/field_error.h"
#include "planner/spec/status_macros.h"
#include "tools/cli/devices_flag.h"
#include "tools/cli/grpc_log.h"
#include "tools/cli/server_client.h"
#include "tools/cli/stop_request.h"

namespace meshwright {
namespace {

struct AgentFlags {
  std::string server = kDefaultServer;
  std::string devices;
  std::string name;
  std::string worker;
  std::string state_dir;
  double memory_limit_gib = 0.0;
};

// Where results wait for a server: of the user, as for other programs' state.
std::string DefaultStateDir() {
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && *state != '\0') return absl::StrCat(state, "/meshwright");
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home != '\0') return absl::StrCat(home, "/.local/state/meshwright");
  return "";
}

absl::StatusOr<DeviceSet> ReadDevices(const std::string& text) {
  ASSIGN_OR_RETURN(const DevicesFlag flag, ParseDevices(text));
  if (flag.kind == DeviceKind::kCpu) return DeviceSet{flag.kind, flag.count};
  const int32_t gpus = CountGpus();
  if (gpus == 0) return FieldError("devices", text, "this machine has no NVIDIA device");
  return DeviceSet{flag.kind, gpus};
}

absl::StatusOr<AgentOptions> ReadOptions(const AgentFlags& flags, CommandContext& context) {
  AgentOptions options;
  RETURN_IF_ERROR(CheckServerAddress(flags.server));
  options.server = flags.server;
  ASSIGN_OR_RETURN(options.devices, ReadDevices(flags.devices));
  if (flags.memory_limit_gib != 0.0) {
    ASSIGN_OR_RETURN(options.memory_limit_bytes, ParseMemoryLimit(flags.memory_limit_gib));
  }
  options.host = HostName();
  options.name = flags.name.empty() ? absl::StrCat(options.host, "-", getpid()) : flags.name;
  options.version = std::string(WorkerVersion());
  options.worker_path =
      flags.worker.empty() ? context.binary_dir + "/meshwright-worker" : flags.worker;
  if (access(options.worker_path.c_str(), X_OK) != 0) {
    return FieldError("worker", options.worker_path, "is not a program that can be run");
  }
  const std::string state = flags.state_dir.empty() ? DefaultStateDir() : flags.state_dir;
  if (!state.empty()) options.result_folder = state + "/results";
  return options;
}

absl::Status RunAgent(const AgentFlags& flags, CommandContext& context) {
  const StopRequest stop(context);
  QuietGrpcLog();
  ASSIGN_OR_RETURN(AgentOptions options, ReadOptions(flags, context));
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
      ->option_text("HOST:PORT");
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
      ->option_text("PATH");
  command
      ->add_option("--state-dir", flags->state_dir,
                   "Where results wait until a server has them; default: the user's state folder")
      ->option_text("DIR");
  command->callback([flags, &context] {
    const absl::Status status = RunAgent(*flags, context);
    if (!status.ok()) context.exit_code = ReportError(context, OutputFormat::kText, status);
  });
}

}  // namespace meshwright

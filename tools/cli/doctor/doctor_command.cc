#include <sys/timex.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/system/descriptors.h"
#include "base/system/run_program.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "executor/host/host.h"
#include "executor/trial/worker_version.h"
#include "executor/wire/wire.h"
#include "meshwright/v1/agents.grpc.pb.h"
#include "planner/codec/json_codec.h"
#include "tools/cli/commands.h"
#include "tools/cli/common/agent_clusters.h"
#include "tools/cli/common/agent_state.h"
#include "tools/cli/common/device_profile.h"
#include "tools/cli/common/devices_flag.h"
#include "tools/cli/common/flags.h"
#include "tools/cli/common/standing_call.h"
#include "tools/cli/common/stop_request.h"
#include "tools/cli/doctor/finding_fields.h"
#include "tools/cli/doctor/findings.h"
#include "tools/cli/io/json_output.h"
#include "tools/cli/io/table.h"
#include "tools/command_line/declare.h"

namespace meshwright::cli {
namespace {

constexpr double kBenchmarkBudgetS = 1.0;

struct DoctorFlags {
  OutputFlags output;
  ServerFlags server;
  std::string devices;
  std::string worker;
  std::string state_dir;
};

std::optional<ClockState> KernelClock() {
  timex state{};
  if (adjtimex(&state) < 0) return std::nullopt;
  return ClockState{.synchronised = (state.status & STA_UNSYNC) == 0,
                    .most_error = absl::Microseconds(state.maxerror)};
}

// For a folder that an agent would create, the nearest existing parent is checked.
absl::StatusOr<int64_t> FreeBytes(const std::string& folder) {
  if (folder.empty()) {
    return FieldError("state_dir", "(empty)", "neither XDG_STATE_HOME nor HOME is set");
  }
  std::filesystem::path there = std::filesystem::absolute(folder);
  std::error_code error;
  while (!std::filesystem::exists(there, error) && there.has_relative_path()) {
    there = there.parent_path();
  }
  if (access(there.c_str(), W_OK) != 0) {
    return FieldError("state_dir", there.string(), "can't be written to");
  }
  const auto space = std::filesystem::space(there, error);
  if (error) return FieldError("state_dir", there.string(), error.message());
  constexpr auto kMost = static_cast<uintmax_t>(std::numeric_limits<int64_t>::max());
  return static_cast<int64_t>(std::min(space.available, kMost));
}

absl::StatusOr<ServerAnswer> AskServer(const ServerFlags& server) {
  ASSIGN_OR_RETURN(const v1::ListAgentsResponse response, AskForAgents(server));
  ServerAnswer answer{.version = response.server_version(), .time = std::nullopt};
  for (const v1::Agent& agent : response.agents()) {
    answer.agents += agent.state() == v1::AGENT_STATE_LOST ? 0 : 1;
  }
  if (response.has_server_time()) answer.time = wire::FromWire(response.server_time());
  return answer;
}

// Appends what is known about standbys and, unless the server is one itself, about the server.
void ExamineServer(const ServerFlags& server, std::vector<Finding>& findings) {
  std::vector<Finding> standbys;
  const std::vector<std::string> addresses = server.addresses();
  bool is_standby = false;
  for (const std::string& address : addresses) {
    const auto standing = AskForStanding(server.At(address));
    // An older server has none, and one that does not answer is judged below.
    if (!standing.ok()) continue;
    is_standby = standing->is_standby();
    const auto add = [&](const v1::StandbyLag& lag, const std::string& follows) {
      standbys.push_back(JudgeStandby({.name = lag.name(),
                                       .follows = follows,
                                       .connected = lag.connected(),
                                       .complete = lag.complete(),
                                       .transactions = lag.transactions(),
                                       .behind_bytes = lag.behind_bytes(),
                                       .behind_s = lag.behind_s()}));
    };
    if (is_standby) add(standing->lag(), standing->follows());
    for (const v1::StandbyLag& lag : standing->standbys()) add(lag, address);
  }
  const bool is_only_a_standby = addresses.size() == 1 && is_standby;
  if (!is_only_a_standby) {
    findings.push_back(JudgeServer(server.address(), AskServer(server),
                                   std::string(trial::WorkerVersion()), absl::Now()));
  }
  findings.insert(findings.end(), standbys.begin(), standbys.end());
}

// Checks what the machine has; for named devices also runs a benchmark on them.
absl::StatusOr<std::vector<Finding>> Examine(const DoctorFlags& flags, CommandContext& context,
                                             const StopRequest& stop) {
  std::vector<Finding> findings;
  const std::string worker = flags.worker.empty() ? context.worker_path() : flags.worker;
  DevicesFlag wanted{.kind = planner::DeviceKind::kCpu, .count = 1};
  if (!flags.devices.empty()) {
    ASSIGN_OR_RETURN(wanted, ParseDevices(flags.devices));
  }
  const absl::Status version = trial::CheckWorkerVersion(worker, RunProgram);
  findings.push_back(JudgeWorker(worker, version));
  if (version.ok()) {
    findings.push_back(
        JudgeDevices(context.list_devices(worker), wanted.kind == planner::DeviceKind::kCuda));
  }
  findings.push_back(JudgeMemory(host::AvailableMemory(), std::max(1, wanted.count)));
  findings.push_back(JudgeOpenFiles(DescriptorLimit()));
  findings.push_back(JudgeClock(KernelClock()));
  const std::string folder = AgentStateDir(flags.state_dir, host::HostName(),
                                           flags.server.OrDefault().addresses().front());
  findings.push_back(JudgeStateDir(folder, FreeBytes(folder)));
  if (version.ok() && !flags.devices.empty()) {
    const auto devices = ResolveDevices(flags.devices, worker, context);
    if (devices.ok()) {
      const trial::BenchmarkPlan plan = {
          .device = devices->kind, .ranks = devices->count, .budget_s = kBenchmarkBudgetS};
      const auto ran = MeasureDevices(plan, {.worker_path = worker,
                                             .cancelled = [&stop] { return stop.Requested(); },
                                             .progress = {}});
      findings.push_back(JudgeTrial(*devices, ran.status()));
    }
  }
  if (!flags.server.empty()) ExamineServer(flags.server, findings);
  return findings;
}

void PrintText(const std::vector<Finding>& findings, std::ostream& out) {
  Table table({"check", "", "found"});
  for (const Finding& finding : findings) {
    table.Add({finding.check, VerdictName(finding.verdict), finding.found});
  }
  table.Print(out);
  for (const Finding& finding : findings) {
    if (!finding.advice.empty()) out << finding.check << ": " << finding.advice << "\n";
  }
}

absl::Status RunDoctor(const DoctorFlags& flags, CommandContext& context) {
  const StopRequest stop(context);
  ASSIGN_OR_RETURN(const std::vector<Finding> findings, Examine(flags, context, stop));
  if (stop.Requested()) {
    context.exit_code = stop.exit_code();
    return absl::OkStatus();
  }
  const Verdict worst = WorstOf(findings);
  if (flags.output.format == OutputFormat::kJson) {
    PrintJson(planner::WriteOrderedJson(DoctorText{worst, findings}), context.out);
  } else {
    PrintText(findings, context.out);
  }
  context.exit_code = worst == Verdict::kProblem ? kExitFailed : kExitOk;
  return absl::OkStatus();
}

}  // namespace

void AddDoctorCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<DoctorFlags>();
  CLI::App* command = app.add_subcommand(
      "doctor", "Say whether this machine can run trials, what is wrong, and what to do");
  command
      ->add_option("--devices", flags->devices,
                   "Also compute on these devices for a second, and send messages between them")
      ->option_text("cpu:N|cuda");
  flags->server.Add(*command, "Also connect to this server, as an agent or a user does", context);
  command->add_option("--worker", flags->worker, "Default: meshwright-worker beside this program")
      ->option_text("FILE");
  command
      ->add_option("--state-dir", flags->state_dir,
                   "The --state-dir of the agent that will run "
                   "here")
      ->option_text("DIR");
  flags->output.AddFormat(*command);
  command_line::AddExample(*command, "meshwright doctor --devices cpu:2");
  command->callback([flags, &context] {
    const absl::Status status = RunDoctor(*flags, context);
    if (!status.ok()) context.exit_code = ReportError(context, flags->output.format, status);
  });
}

}  // namespace meshwright::cli

#include "tools/cli/serve/scaling_flags.h"

#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/system/host_port.h"
#include "base/system/run_program.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "tools/cli/launcher/fleet_flags.h"
#include "tools/cli/launcher/slurm_queue.h"
#include "tools/command_line/declare.h"

namespace meshwright::cli {
namespace {

constexpr char kSlurm[] = "slurm";
constexpr char kCommand[] = "command";
constexpr char kKubernetes[] = "kubernetes";

// Renames the flags of `agents up` in a status about a fleet to those of `serve`.
absl::Status InServeWords(const absl::Status& status) {
  if (status.ok()) return status;
  std::string field = FieldOf(status);
  std::string message(status.message());
  const auto rename = [&](const std::string& from, const std::string& to) {
    if (field == from) field = to;
    if (message.starts_with(from + " = ")) message.replace(0, from.size(), to);
  };
  rename("nodes", "max_nodes");
  for (const std::string name : {"server", "tls_ca", "tls_cert", "tls_key", "token_file"}) {
    if (FieldOf(status) == name) rename(name, "agent_" + name);
  }
  absl::StrReplaceAll({{"--tls-", "--agent-tls-"}}, &message);
  return WithField(absl::Status(status.code(), message), field);
}

bool IsEverywhere(const std::string& host) { return host == "0.0.0.0" || host == "[::]"; }

// Checks that agents can connect and authenticate at all.
absl::Status CheckReaches(const ServerEnd& server, const ServerAccess& access) {
  if (access.has_tls() && !server.has_tls) {
    return FieldError("agent_tls_ca", "a file", "must be absent unless the server has --tls-cert");
  }
  if (!server.has_tls) return absl::OkStatus();
  if (!access.has_tls()) {
    return FieldError("agent_tls_ca", "",
                      "must name the CA that signed the certificate of --tls-cert");
  }
  if (access.token.empty() && access.certificate.empty()) {
    return FieldError(
        "agent_token_file", "",
        "must name the agents' tokens, as in \"tokens/{name}\", unless --agent-tls-cert and "
        "--agent-tls-key name their certificates: the server authenticates agents");
  }
  if (access.token.empty() && !server.takes_certificates) {
    return FieldError("agent_tls_cert", "a file",
                      "needs --tls-client-ca with the CA of this certificate");
  }
  return absl::OkStatus();
}

}  // namespace

void ScalingFlags::Add(CLI::App& command, const CommandContext& context) {
  command_line::TakeWords(command.add_option("--launcher", launcher_,
                                             "Start agents while trials wait for them, on nodes of "
                                             "Slurm or Kubernetes, or of any queue that --submit, "
                                             "--status and --cancel reach"),
                          {kSlurm, kKubernetes, kCommand});
  const auto keep = [this](const std::vector<CLI::Option*>& options) {
    options_.insert(options_.end(), options.begin(), options.end());
  };
  most_ = command
              .add_option("--max-nodes", limits_.max_nodes,
                          "With --launcher: most nodes that are taken, each with one agent")
              ->option_text("N");
  keep({const_cast<CLI::Option*>(most_),
        command
            .add_option("--min-nodes", limits_.min_nodes,
                        "With --launcher: nodes that are kept while no trial waits")
            ->capture_default_str()
            ->option_text("N"),
        command
            .add_option("--idle-s", idle_s_,
                        "With --launcher: seconds without a trial after which an agent is let go")
            ->capture_default_str()
            ->option_text("S")});
  keep(server_.AddForAgents(
      command,
      "With --launcher: address at which its agents reach this server; port 0 stands "
      "for the server's own port; {name} in the paths of the next four flags "
      "stands for the agent's name; default: --listen",
      context));
  keep(AddAgentFlags(command, fleet_));
  keep(AddSlurmFlags(command, fleet_, job_, poll_s_));
  keep(AddQueueFlags(command, commands_));
  keep(AddKubernetesFlags(command, kubernetes_));
}

absl::Status ScalingFlags::CheckNone() const {
  for (const CLI::Option* option : options_) {
    if (option->count() == 0) continue;
    const std::string field =
        absl::StrReplaceAll(command_line::NameOf(*option), {{"--", ""}, {"-", "_"}});
    return FieldError(field, option->results().front(), "goes with --launcher only");
  }
  return absl::OkStatus();
}

absl::Status ScalingFlags::CheckNumbers() const {
  if (most_->count() == 0) {
    return FieldError("max_nodes", "", "must say how many nodes --launcher may take at most");
  }
  if (limits_.min_nodes < 0 || limits_.min_nodes > limits_.max_nodes) {
    return FieldError("min_nodes", limits_.min_nodes,
                      absl::StrCat("must be from 0 to --max-nodes, ", limits_.max_nodes));
  }
  RETURN_IF_ERROR(CheckPositive("idle_s", idle_s_));
  RETURN_IF_ERROR(CheckPositive("poll_s", poll_s_));
  return Check(job_);
}

absl::Status ScalingFlags::CheckReached(const std::string& listen) const {
  if (!server_.address().empty()) return absl::OkStatus();
  const absl::StatusOr<HostPort> address = ParseHostPort(listen);
  // The server reports an invalid address itself.
  if (!address.ok()) return absl::OkStatus();
  if (!IsLoopback(*address) && !IsEverywhere(address->host)) return absl::OkStatus();
  return FieldError("agent_server", "",
                    absl::StrCat("must say where agents on other machines reach this server, "
                                 "HOST:PORT: --listen ",
                                 listen, " does not"));
}

ServerFlags ScalingFlags::ServerAt(const std::string& address) const {
  if (server_.address().empty()) return server_.At(address);
  const absl::StatusOr<HostPort> own = ParseHostPort(address);
  absl::StatusOr<HostPort> told = ParseHostPort(server_.address());
  if (!own.ok() || !told.ok() || told->port != 0) return server_.At(server_.address());
  told->port = own->port;
  return server_.At(ToText(*told));
}

absl::StatusOr<QueueOfFleet> ScalingFlags::QueueFor(const AgentFleet& fleet) const {
  if (launcher_ != kSlurm) RETURN_IF_ERROR(CheckIsEmpty(job_));
  if (launcher_ != kCommand) RETURN_IF_ERROR(CheckIsEmpty(commands_));
  if (launcher_ == kKubernetes) return OpenKubernetesQueue(kubernetes_, fleet);
  RETURN_IF_ERROR(CheckIsEmpty(kubernetes_));
  if (launcher_ == kCommand) {
    RETURN_IF_ERROR(CheckIsByNode(fleet));
    return OpenCommandQueue(commands_, fleet);
  }
  SlurmJobFlags job = job_;
  RETURN_IF_ERROR(ReadTemplate(job));
  const size_t jobs = JobNames(fleet).size();
  if (job.array != 0 && job.array < static_cast<int32_t>(jobs)) {
    return FieldError("array", job.array,
                      absl::StrCat("must be at least ", jobs,
                                   ", the jobs of --max-nodes, since a trial may need all nodes"));
  }
  return QueueOfFleet{.queue = std::make_shared<SlurmQueue>(RunProgramOn, std::move(job))};
}

absl::StatusOr<std::optional<FleetScaling>> ScalingFlags::Read(
    const ServerEnd& server, const CommandContext& context) const {
  if (launcher_.empty()) {
    RETURN_IF_ERROR(CheckNone());
    return std::nullopt;
  }
  AgentFleet fleet = fleet_;
  fleet.nodes = limits_.max_nodes;
  RETURN_IF_ERROR(CheckNumbers());
  ASSIGN_OR_RETURN(fleet.devices, ParseDevices(fleet.devices_text));
  RETURN_IF_ERROR(CheckReached(server.listen));
  fleet.server = ServerAt(server.listen);
  RETURN_IF_ERROR(InServeWords(Check(fleet)));
  absl::StatusOr<ServerAccess> access = fleet.server.For(AgentNames(fleet).front()).Read();
  if (!access.ok()) return InServeWords(access.status());
  RETURN_IF_ERROR(CheckReaches(server, *access));
  RETURN_IF_ERROR(InServeWords(CheckAccess(fleet)));
  ASSIGN_OR_RETURN(QueueOfFleet queue, QueueFor(fleet));
  FleetScaling scaling;
  scaling.queue = std::move(queue.queue);
  scaling.limits = limits_;
  scaling.limits.idle = absl::Seconds(idle_s_);
  scaling.launch = {.fleet = std::move(fleet),
                    .owner = std::move(queue.owner),
                    .program = context.binary_dir + "/meshwright",
                    .poll = absl::Seconds(poll_s_)};
  // A server must survive a partition that is closed for a day.
  scaling.launch.policy.most_failures = std::numeric_limits<int32_t>::max();
  return scaling;
}

}  // namespace meshwright::cli

#include "tools/cli/common/agent_clusters.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/nearest.h"
#include "base/text/status_macros.h"
#include "executor/wire/message_codec.h"
#include "meshwright/v1/agents.grpc.pb.h"
#include "planner/catalog/catalog.h"
#include "planner/codec/json_codec.h"
#include "tools/cli/common/agent_fields.h"
#include "tools/cli/common/benchmark_text.h"
#include "tools/cli/common/server_client.h"
#include "tools/cli/common/wire_text.h"
#include "tools/cli/io/json_output.h"
#include "tools/cli/io/table.h"

namespace meshwright::cli {
namespace {

constexpr std::string_view kPrefix = "agent:";

// Returns the trials that the agent has, and why it gets no more.
std::string TrialsText(const v1::Agent& agent) {
  std::string text = agent.state() == v1::AGENT_STATE_LOST
                         ? absl::StrCat("lost: last heard ", TimeText(agent.last_heard_time()))
                     : agent.has_running() ? ShortName(agent.running().trial())
                                           : "-";
  for (const v1::AttemptRef& beside : agent.running_beside()) {
    absl::StrAppend(&text, ", ", ShortName(beside.trial()));
  }
  if (agent.drained()) text += ", drained";
  if (!agent.set_aside_reason().empty()) {
    absl::StrAppend(&text, ", quarantined: ", agent.set_aside_reason());
  }
  return text;
}

std::string MeasuredText(const v1::Agent& agent) {
  if (agent.cluster_json().empty()) return "-";
  const absl::StatusOr<planner::ClusterSpec> cluster =
      planner::ClusterFromJson(agent.cluster_json(), 1);
  return cluster.ok() ? SummaryOf(*cluster) : std::string(cluster.status().message());
}

}  // namespace

absl::StatusOr<v1::ListAgentsResponse> AskForAgents(const ServerFlags& server) {
  ASSIGN_OR_RETURN(const std::shared_ptr<grpc::Channel> channel, ConnectTo(server));
  const std::unique_ptr<v1::Agents::Stub> stub = v1::Agents::NewStub(channel);
  grpc::ClientContext call;
  SetDeadline(call);
  v1::ListAgentsResponse response;
  RETURN_IF_ERROR(CallStatus(stub->ListAgents(&call, {}, &response)));
  return response;
}

absl::StatusOr<std::vector<v1::Agent>> ListAgents(const ServerFlags& server) {
  ASSIGN_OR_RETURN(const v1::ListAgentsResponse response, AskForAgents(server));
  return std::vector<v1::Agent>(response.agents().begin(), response.agents().end());
}

bool NamesAgent(std::string_view cluster) { return cluster.starts_with(kPrefix); }

absl::StatusOr<planner::SpecSource> ClusterOfAgent(const std::vector<v1::Agent>& agents,
                                                   const std::string& cluster) {
  const std::string name = cluster.substr(kPrefix.size());
  std::vector<std::string> known;
  for (const v1::Agent& agent : agents) {
    known.push_back(agent.name());
    if (agent.name() != name) continue;
    if (!agent.cluster_json().empty()) return planner::SpecSource{cluster, agent.cluster_json()};
    return FieldError(
        "cluster", cluster,
        "this agent has not measured its devices: start it without --no-benchmark, or "
        "name another cluster");
  }
  if (known.empty()) {
    return WithField(
        absl::NotFoundError(absl::StrCat("agent '", name, "' is not known: no agent is connected")),
        "cluster");
  }
  return WithField(UnknownName("agent", name, known), "cluster");
}

void PrintAgents(const std::vector<v1::Agent>& agents, OutputFormat format, std::ostream& out) {
  if (format == OutputFormat::kJson) {
    AgentListText list;
    for (const v1::Agent& agent : agents) list.agents.push_back({agent});
    PrintJson(planner::WriteOrderedJson(list), out);
    return;
  }
  Table table({"agent", "host", "devices", "runs", "measured"});
  for (const v1::Agent& agent : agents) {
    table.Add({agent.name(), agent.host(),
               absl::StrCat(wire::TextOf(agent.device_set().device_kind()), ":",
                            agent.device_set().devices()),
               TrialsText(agent), MeasuredText(agent)});
  }
  table.Print(out);
}

}  // namespace meshwright::cli

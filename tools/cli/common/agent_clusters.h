// Lists the agents of a server, and finds the clusters that they measured: --cluster agent:NAME.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "meshwright/v1/agents.pb.h"
#include "planner/catalog/plan_query.h"
#include "tools/cli/common/context.h"
#include "tools/cli/common/server_flags.h"

namespace meshwright::cli {

// Errors as from ConnectTo() and CallStatus().
absl::StatusOr<v1::ListAgentsResponse> AskForAgents(const ServerFlags& server);
// By name. The same errors.
absl::StatusOr<std::vector<v1::Agent>> ListAgents(const ServerFlags& server);

// Whether the value of --cluster names an agent.
bool NamesAgent(std::string_view cluster);

// Returns the cluster that one of `agents` measured on its devices. `cluster` is agent:NAME.
// NotFound for an unknown agent, with the nearest names; InvalidArgument for one that did not
// measure.
absl::StatusOr<planner::SpecSource> ClusterOfAgent(const std::vector<v1::Agent>& agents,
                                                   const std::string& cluster);

// One line per agent, or JSON by its fields (tools/cli/common/agent_fields.h).
void PrintAgents(const std::vector<v1::Agent>& agents, OutputFormat format, std::ostream& out);

}  // namespace meshwright::cli

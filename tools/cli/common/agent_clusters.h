// ListAgents() lists the agents of a server, and ClusterOfAgent() returns the cluster that an agent
// measured, for --cluster agent:NAME.
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

// Calls ListAgents of the server. Returns the errors of ConnectTo() and CallStatus().
absl::StatusOr<v1::ListAgentsResponse> AskForAgents(const ServerFlags& server);
// Returns the agents of the server, ordered by name. Returns the errors of AskForAgents().
absl::StatusOr<std::vector<v1::Agent>> ListAgents(const ServerFlags& server);

// Returns whether the value of --cluster names an agent.
bool NamesAgent(std::string_view cluster);

// Returns the cluster that one of `agents` measured on its devices. `cluster` is agent:NAME.
// Returns NotFound, with the nearest names, if no agent has this name. Returns InvalidArgument if
// the agent did not measure its devices.
absl::StatusOr<planner::SpecSource> ClusterOfAgent(const std::vector<v1::Agent>& agents,
                                                   const std::string& cluster);

// Prints one line per agent, or their fields as JSON (tools/cli/common/agent_fields.h).
void PrintAgents(const std::vector<v1::Agent>& agents, OutputFormat format, std::ostream& out);

}  // namespace meshwright::cli

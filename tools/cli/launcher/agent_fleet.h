// AgentFleet describes agents that differ only in their names: what each runs with, wherever a
// launcher puts it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/cli/common/devices_flag.h"
#include "tools/cli/common/server_flags.h"

namespace meshwright::cli {

struct AgentFleet {
  // Name prefix: an agent's name is this, "-" and its number.
  std::string name = "meshwright-agent";
  int32_t nodes = 0;   // one agent each
  ServerFlags server;  // paths may hold kAgentInPath
  std::string devices_text;
  DevicesFlag devices;
  int32_t gpus_per_node = 0;      // requested of the launcher; 0: not said
  std::vector<std::string> more;  // flags of `meshwright agent`, passed on as they are
};

// Checks what the user typed. InvalidArgument about the flag where it can't be taken, including
// flags after "--" that the launcher itself sets.
absl::Status Check(const AgentFleet& fleet);

// InvalidArgument where the files with which the agents are to reach the server can't be read here,
// or where several agents would use one agent's certificate or token.
absl::Status CheckAccess(const AgentFleet& fleet);

// Returns "NAME-1" and so on, one for each node.
std::vector<std::string> AgentNames(const AgentFleet& fleet);

// Returns the arguments of the program with which the agent `name` runs.
std::vector<std::string> AgentWords(const AgentFleet& fleet, std::string_view name);

}  // namespace meshwright::cli

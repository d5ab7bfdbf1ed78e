// AgentFleet describes agents that differ only in their names. It holds the flags with which each
// of them runs. A launcher decides on which node an agent runs.
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

// srun's command holds the words of all agents that it starts, in an argument of at most 128 KiB.
inline constexpr int32_t kMostNodesPerJob = 256;

// The commands that query the queue have one word per node. Slurm's arrays have task numbers up to
// 1000 by default.
inline constexpr int32_t kMostNodes = 1000;

struct AgentFleet {
  // Prefix of the agents' names. An agent's name is the prefix, "-" and the agent's number.
  std::string name = "meshwright-agent";
  int32_t nodes = 0;          // each has one agent
  int32_t nodes_per_job = 1;  // nodes that the launcher requests together, as one job
  ServerFlags server;         // paths may hold kAgentInPath
  std::string devices_text;
  DevicesFlag devices;
  int32_t gpus_per_node = 0;      // requested from the launcher; 0 if not given
  std::vector<std::string> more;  // further flags of `meshwright agent`, passed on unchanged
};

// Checks the fleet's flags. Returns InvalidArgument, which names the flag, if the value of a flag
// is invalid, or if a flag after "--" is one that the launcher itself sets.
absl::Status Check(const AgentFleet& fleet);

// Checks how the agents reach their server. Returns InvalidArgument if a certificate, key or token
// can't be read here, or if several agents would share a certificate or token.
absl::Status CheckAccess(const AgentFleet& fleet);

// Returns "NAME-1" and so on, one for each node.
std::vector<std::string> AgentNames(const AgentFleet& fleet);

// Returns the names of the fleet's jobs. A job runs nodes_per_job agents whose numbers follow each
// other, and has the name of the first of them.
std::vector<std::string> JobNames(const AgentFleet& fleet);

// Returns the names of the agents of a job. REQUIRES: `job` is one of JobNames().
std::vector<std::string> AgentsOfJob(const AgentFleet& fleet, std::string_view job);

// Returns the arguments with which `meshwright` runs the agent `name`.
std::vector<std::string> AgentWords(const AgentFleet& fleet, std::string_view name);

}  // namespace meshwright::cli

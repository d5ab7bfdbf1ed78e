// The flags of a fleet of agents that more than one command takes.
#pragma once

#include <vector>

#include "CLI/CLI.hpp"
#include "tools/cli/launcher/agent_fleet.h"
#include "tools/cli/launcher/batch_script.h"

namespace meshwright::cli {

// What the agents are: --devices, --gpus-per-node, --job-name and what stands behind "--". Returns
// the options.
std::vector<CLI::Option*> AddAgentFlags(CLI::App& command, AgentFleet& fleet);

// What their jobs are: --partition, --time, --account, --poll-s.
std::vector<CLI::Option*> AddSlurmFlags(CLI::App& command, SlurmJobFlags& job, double& poll_s);

}  // namespace meshwright::cli

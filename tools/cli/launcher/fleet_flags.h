// AddAgentFlags() and AddSlurmFlags() add the flags of a fleet of agents, which several commands
// share.
#pragma once

#include <vector>

#include "CLI/CLI.hpp"
#include "tools/cli/launcher/agent_fleet.h"
#include "tools/cli/launcher/batch_script.h"

namespace meshwright::cli {

// Adds and returns the flags of the agents: --devices, --gpus-per-node, --job-name and the words
// after "--".
std::vector<CLI::Option*> AddAgentFlags(CLI::App& command, AgentFleet& fleet);

// Adds and returns the flags of the agents' jobs: --partition, --time, --account and --poll-s.
std::vector<CLI::Option*> AddSlurmFlags(CLI::App& command, SlurmJobFlags& job, double& poll_s);

}  // namespace meshwright::cli

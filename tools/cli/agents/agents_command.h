// meshwright agents list|drain|resume|up: lists a server's agents, sets which of them get trials,
// and starts agents on a cluster's nodes (up_command.h).
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/common/context.h"

namespace meshwright::cli {

void AddAgentsCommand(CLI::App& app, CommandContext& context);

}  // namespace meshwright::cli

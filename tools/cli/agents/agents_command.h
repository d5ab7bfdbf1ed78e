// meshwright agents list|drain|resume: the agents of a server, and which of them get trials.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/common/context.h"

namespace meshwright::cli {

void AddAgentsCommand(CLI::App& app, CommandContext& context);

}  // namespace meshwright::cli

// meshwright agent: owns this machine's devices and runs trials for a server.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/context.h"

namespace meshwright {

void AddAgentCommand(CLI::App& app, CommandContext& context);

}  // namespace meshwright

// meshwright agent: owns this machine's devices and runs trials for a server.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/common/context.h"

namespace meshwright::cli {

void AddAgentCommand(CLI::App& app, CommandContext& context);

}  // namespace meshwright::cli

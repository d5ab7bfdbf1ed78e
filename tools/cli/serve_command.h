// meshwright serve: the server, until SIGINT or SIGTERM.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/context.h"

namespace meshwright {

void AddServeCommand(CLI::App& app, CommandContext& context);

}  // namespace meshwright

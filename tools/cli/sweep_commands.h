// meshwright sweep start | list | show | watch | cancel: sweeps on a running server.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/context.h"

namespace meshwright {

void AddSweepCommand(CLI::App& app, CommandContext& context);

}  // namespace meshwright

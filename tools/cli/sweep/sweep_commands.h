// meshwright sweep start | list | show | watch | cancel: manages sweeps on a running server.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/common/context.h"

namespace meshwright::cli {

void AddSweepCommand(CLI::App& app, CommandContext& context);

}  // namespace meshwright::cli

// meshwright serve: runs the server until SIGINT or SIGTERM.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/common/context.h"

namespace meshwright::cli {

void AddServeCommand(CLI::App& app, CommandContext& context);

}  // namespace meshwright::cli

// `meshwright replay`: runs the engine's choices on measured sweeps.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/common/context.h"

namespace meshwright::cli {

void AddReplayCommand(CLI::App& app, CommandContext& context);

}  // namespace meshwright::cli

// Adds the commands that tell of the program itself: help, version, completion and man.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/context.h"

namespace meshwright {

// `app` is the whole tree of commands, which they describe when they run.
void AddAboutCommands(CLI::App& app, CommandContext& context);

}  // namespace meshwright

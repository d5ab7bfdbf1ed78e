// Adds the commands about the program itself: help, version, completion and man.
#pragma once

#include <functional>
#include <memory>

#include "CLI/CLI.hpp"
#include "tools/cli/common/context.h"

namespace meshwright::cli {

// Makes the command tree anew, without any user's defaults.
using MakeTree = std::function<std::unique_ptr<CLI::App>(CommandContext&)>;

// `app` is the whole command tree, which these commands describe when they run.
void AddAboutCommands(CLI::App& app, MakeTree make_tree, CommandContext& context);

}  // namespace meshwright::cli

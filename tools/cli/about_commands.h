// Adds the commands that tell of the program itself: help, version, completion and man.
#pragma once

#include <functional>
#include <memory>

#include "CLI/CLI.hpp"
#include "tools/cli/common/context.h"

namespace meshwright::cli {

// Makes the tree of commands anew, with the defaults of nobody.
using MakeTree = std::function<std::unique_ptr<CLI::App>(CommandContext&)>;

// `app` is the whole tree of commands, which they describe when they run.
void AddAboutCommands(CLI::App& app, MakeTree make_tree, CommandContext& context);

}  // namespace meshwright::cli

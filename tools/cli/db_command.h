// meshwright db check: whether a server's database file is whole.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/context.h"

namespace meshwright {

void AddDbCommand(CLI::App& app, CommandContext& context);

}  // namespace meshwright

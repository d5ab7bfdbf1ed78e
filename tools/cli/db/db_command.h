// meshwright db check: whether a server's database file is whole.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/common/context.h"

namespace meshwright::cli {

void AddDbCommand(CLI::App& app, CommandContext& context);

}  // namespace meshwright::cli

// The command that holds predictions against measured runs: validate.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/context.h"

namespace meshwright {

void AddValidateCommand(CLI::App& app, CommandContext& context);

}  // namespace meshwright

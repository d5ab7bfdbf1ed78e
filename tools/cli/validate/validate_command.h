// The command that holds predictions against measured runs: validate.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/common/context.h"

namespace meshwright::cli {

void AddValidateCommand(CLI::App& app, CommandContext& context);

}  // namespace meshwright::cli

// meshwright token: creates, lists and revokes the tokens of a server's database.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/common/context.h"

namespace meshwright::cli {

void AddTokenCommand(CLI::App& app, CommandContext& context);

}  // namespace meshwright::cli

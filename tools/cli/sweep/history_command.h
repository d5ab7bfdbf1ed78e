// `meshwright history`: what was measured in all sweeps of a server, by a condition.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/common/context.h"

namespace meshwright::cli {

// The context outlives the app.
void AddHistoryCommand(CLI::App& app, CommandContext& context);

}  // namespace meshwright::cli

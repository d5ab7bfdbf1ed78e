// `meshwright history`: lists the measurements of all of a server's sweeps that match a condition.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/common/context.h"

namespace meshwright::cli {

// The context outlives the app.
void AddHistoryCommand(CLI::App& app, CommandContext& context);

}  // namespace meshwright::cli

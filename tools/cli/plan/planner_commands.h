// The commands that query the planner: recommend, estimate, list.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/common/context.h"

namespace meshwright::cli {

void AddRecommendCommand(CLI::App& app, CommandContext& context);
void AddEstimateCommand(CLI::App& app, CommandContext& context);
void AddListCommand(CLI::App& app, CommandContext& context);

}  // namespace meshwright::cli

// meshwright sweep compare A B: shows how two sweeps differ, and what became faster.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/common/context.h"

namespace meshwright::cli {

void AddSweepCompareCommand(CLI::App& group, CommandContext& context);

}  // namespace meshwright::cli

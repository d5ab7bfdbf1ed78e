// meshwright sweep start and sweep rerun: make a new sweep.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/common/context.h"

namespace meshwright::cli {

void AddSweepStartCommand(CLI::App& group, CommandContext& context);
void AddSweepRerunCommand(CLI::App& group, CommandContext& context);

}  // namespace meshwright::cli

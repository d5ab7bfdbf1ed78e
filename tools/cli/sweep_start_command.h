// meshwright sweep start and sweep rerun: what makes a new sweep.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/context.h"

namespace meshwright {

void AddSweepStartCommand(CLI::App& group, CommandContext& context);
void AddSweepRerunCommand(CLI::App& group, CommandContext& context);

}  // namespace meshwright

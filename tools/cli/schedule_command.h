// The command that draws a simulated pipeline step: schedule.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/context.h"

namespace meshwright {

void AddScheduleCommand(CLI::App& app, CommandContext& context);

}  // namespace meshwright

// `meshwright schedule`: draws a simulated pipeline step.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/common/context.h"

namespace meshwright::cli {

void AddScheduleCommand(CLI::App& app, CommandContext& context);

}  // namespace meshwright::cli

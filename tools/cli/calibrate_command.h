// `meshwright calibrate`: fits a hardware profile's constants to measured runs.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/context.h"

namespace meshwright {

void AddCalibrateCommand(CLI::App& app, CommandContext& context);

}  // namespace meshwright

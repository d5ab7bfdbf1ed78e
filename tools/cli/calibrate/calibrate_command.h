// `meshwright calibrate`: fits a hardware profile's constants to measured runs.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/common/context.h"

namespace meshwright::cli {

void AddCalibrateCommand(CLI::App& app, CommandContext& context);

}  // namespace meshwright::cli

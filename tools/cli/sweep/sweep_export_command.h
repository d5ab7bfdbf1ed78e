// meshwright sweep export: writes a sweep's measurements as rows that validate and calibrate read.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/common/context.h"

namespace meshwright::cli {

void AddSweepExportCommand(CLI::App& group, CommandContext& context);

}  // namespace meshwright::cli

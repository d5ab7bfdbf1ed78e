// `export`: a layout as the launch flags of Megatron-LM or the configuration of torchtitan.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/common/context.h"

namespace meshwright::cli {

void AddExportCommand(CLI::App& app, CommandContext& context);

}  // namespace meshwright::cli

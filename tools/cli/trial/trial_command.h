// meshwright trial: runs one layout on this machine and shows it beside its prediction.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/common/context.h"

namespace meshwright::cli {

void AddTrialCommand(CLI::App& app, CommandContext& context);

}  // namespace meshwright::cli

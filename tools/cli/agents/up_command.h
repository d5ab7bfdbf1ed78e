// meshwright agents up: starts agents on nodes that Slurm or Kubernetes allocates.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/common/context.h"

namespace meshwright::cli {

// Adds the command below `meshwright agents`.
void AddAgentsUpCommand(CLI::App& group, CommandContext& context);

}  // namespace meshwright::cli

// meshwright agents up: agents on the nodes of a cluster that Slurm or Kubernetes gives out.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/common/context.h"

namespace meshwright::cli {

// Below `meshwright agents`.
void AddAgentsUpCommand(CLI::App& group, CommandContext& context);

}  // namespace meshwright::cli

// `meshwright fastest`: finds the shortest time in which a model can be trained, over numbers of
// devices and over batches.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/common/context.h"

namespace meshwright::cli {

void AddFastestCommand(CLI::App& app, CommandContext& context);

}  // namespace meshwright::cli

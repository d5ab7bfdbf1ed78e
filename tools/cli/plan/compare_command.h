// `meshwright compare`: shows several layouts for one query side by side.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/common/context.h"

namespace meshwright::cli {

void AddCompareCommand(CLI::App& app, CommandContext& context);

}  // namespace meshwright::cli

// `meshwright benchmark`: measures this machine's devices and makes a cluster file of the results.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/common/context.h"

namespace meshwright::cli {

void AddBenchmarkCommand(CLI::App& app, CommandContext& context);

}  // namespace meshwright::cli

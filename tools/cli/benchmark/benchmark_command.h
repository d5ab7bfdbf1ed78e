// `meshwright benchmark`: what this machine's devices reach, as a cluster file.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/common/context.h"

namespace meshwright::cli {

void AddBenchmarkCommand(CLI::App& app, CommandContext& context);

}  // namespace meshwright::cli

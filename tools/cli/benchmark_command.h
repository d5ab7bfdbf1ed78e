// `meshwright benchmark`: what this machine's devices reach, as a cluster file.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/context.h"

namespace meshwright {

void AddBenchmarkCommand(CLI::App& app, CommandContext& context);

}  // namespace meshwright

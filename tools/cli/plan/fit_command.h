// `meshwright fit`: finds the largest micro-batch, sequence and model that fit.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/common/context.h"

namespace meshwright::cli {

void AddFitCommand(CLI::App& app, CommandContext& context);

}  // namespace meshwright::cli

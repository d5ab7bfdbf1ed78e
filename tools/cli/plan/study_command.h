// `meshwright study`: checks whether published recommendations about layouts hold for a model and
// cluster.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/common/context.h"

namespace meshwright::cli {

void AddStudyCommand(CLI::App& app, CommandContext& context);

}  // namespace meshwright::cli

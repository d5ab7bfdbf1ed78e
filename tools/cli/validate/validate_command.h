// `meshwright validate`: compares predictions with measured runs.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/common/context.h"

namespace meshwright::cli {

void AddValidateCommand(CLI::App& app, CommandContext& context);

}  // namespace meshwright::cli

// meshwright history import FILE...: imports runs that were measured elsewhere into a server's
// history.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/common/context.h"

namespace meshwright::cli {

void AddHistoryImportCommand(CLI::App& group, CommandContext& context);

}  // namespace meshwright::cli

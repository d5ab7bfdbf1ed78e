// meshwright db check, backup and compact: maintenance of a server's database file.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/common/context.h"

namespace meshwright::cli {

void AddDbCommand(CLI::App& app, CommandContext& context);

}  // namespace meshwright::cli

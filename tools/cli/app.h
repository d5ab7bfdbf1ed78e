// MakeCommands() builds the whole command line, and RunCommandLine() runs the command that it
// names.
#pragma once

#include <memory>

#include "CLI/CLI.hpp"
#include "tools/cli/common/context.h"

namespace meshwright::cli {

// Returns every command with its flags. The commands use `context` when they run.
std::unique_ptr<CLI::App> MakeCommands(CommandContext& context);

// Parses the arguments, runs the command that they name and returns the exit code.
int RunCommandLine(int argc, const char* const* argv, CommandContext& context);

}  // namespace meshwright::cli

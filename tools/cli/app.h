// MakeCommands() builds the command line with every command. RunCommandLine() runs the command line
// of a user; RunWords() runs arguments without the user's defaults.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "CLI/CLI.hpp"
#include "tools/cli/common/context.h"
#include "tools/cli/common/json_call.h"
#include "tools/command_line/typed_line.h"

namespace meshwright::cli {

// Returns a CommandTree that makes commands by MakeCommand() and runs them by RunWords().
CommandTree AllCommands();

// Returns every command with its flags. The commands use `context` when they run.
std::unique_ptr<CLI::App> MakeCommands(CommandContext& context);

// Returns the command line with only the top-level command `name`, such as "sweep", and its
// subcommands. If there is no such command, returns the command line with every command. A program
// that runs one command saves the time to build the others.
std::unique_ptr<CLI::App> MakeCommand(CommandContext& context, std::string_view name);

// Parses `words`, the arguments after the program's name, runs the command that they name and
// returns the exit code. Does not apply defaults from the environment or the configuration file. If
// the caller has applied them, `sources` says where each came from.
int RunWords(CLI::App& app, const std::vector<std::string>& words,
             command_line::DefaultSources sources, CommandContext& context);

// Applies the user's defaults, parses the arguments, runs the command that they name and returns
// the exit code.
int RunCommandLine(int argc, const char* const* argv, CommandContext& context);

}  // namespace meshwright::cli

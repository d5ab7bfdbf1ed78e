// MakeCommands() builds the whole command line, RunCommandLine() runs the command that a user's
// line names, and RunWords() the one that a program's words name.
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

// Returns MakeCommand() and RunWords().
CommandTree AllCommands();

// Returns every command with its flags. The commands use `context` when they run.
std::unique_ptr<CLI::App> MakeCommands(CommandContext& context);

// Returns the command line with the one command `name`, such as "sweep" with all that stands below
// it; with every command if there is none of this name. It costs a program's call less than all.
std::unique_ptr<CLI::App> MakeCommand(CommandContext& context, std::string_view name);

// Parses the words behind the program's name, runs the command that they name and returns the exit
// code. Defaults of the environment and of the configuration file are not applied here; `sources`
// says where those that were applied came from.
int RunWords(CLI::App& app, const std::vector<std::string>& words,
             command_line::DefaultSources sources, CommandContext& context);

// Applies the user's defaults, parses the arguments, runs the command that they name and returns
// the exit code.
int RunCommandLine(int argc, const char* const* argv, CommandContext& context);

}  // namespace meshwright::cli

// Defaults of options from the environment and a configuration file. The order of precedence is:
// command line, environment, file, the command's own default.
//
// The file is TOML. A table names a command, [recommend] or [sweep.start], and holds its flags
// without dashes; it applies to the commands below it too. Common flags (kCommonFlags) precede all
// tables and apply to every command that has them; these also have a variable each:
// MESHWRIGHT_SERVER for --server.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "tools/command_line/typed_line.h"

namespace meshwright::command_line {

// Returns the value of an environment variable; nullopt where it is not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

// Returns the variable that gives a common flag its default.
std::string VariableOf(const CLI::Option& option);

// Returns the file that MESHWRIGHT_CONFIG names, otherwise meshwright/config.toml in the user's
// configuration folder if it exists; empty where there is none.
std::string ConfigFile(const Environment& environment);

// Sets the defaults of the tree's options; an option with a default is no longer required.
// InvalidArgument with the nearest name for a key that no option has, and for a value that its
// option does not take.
absl::StatusOr<DefaultSources> ApplyDefaults(CLI::App& app, const Environment& environment);

}  // namespace meshwright::command_line

// Defaults of options that the environment and a configuration file give, in this order behind the
// command line and before what a command itself takes.
//
// The file is TOML. A table names a command, [recommend] or [sweep.start], and holds its flags
// without dashes; it counts for the commands below it too. Above all tables stand common flags
// (kCommonFlags), for every command that has them; these also have a variable each:
// MESHWRIGHT_SERVER for --server.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "tools/command_line/typed_line.h"

namespace meshwright::command_line {

// The value of an environment variable; none where it is not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

// The variable that gives a common flag its default.
std::string VariableOf(const CLI::Option& option);

// The file that MESHWRIGHT_CONFIG names, or else meshwright/config.toml in the user's folder for
// such files where it exists; empty where there is none.
std::string ConfigFile(const Environment& environment);

// Gives the options of the tree their defaults; what gets one is no longer required.
// InvalidArgument with the nearest name for a key that no option has, and for a value that its
// option does not take.
absl::StatusOr<DefaultSources> ApplyDefaults(CLI::App& app, const Environment& environment);

}  // namespace meshwright::command_line

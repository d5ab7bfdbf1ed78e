// ApplyDefaults() takes defaults of options from the environment and a configuration file. The
// order of precedence is: command line, environment, file, the command's own default.
//
// The file is TOML. A table names a command, [recommend] or [sweep.start], and holds its flags
// without their leading dashes. It applies to the command's subcommands too. Common flags
// (kCommonFlags) precede all tables and apply to every command that has them. Each common flag also
// has an environment variable, such as MESHWRIGHT_SERVER for --server.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "tools/command_line/typed_line.h"

namespace meshwright::command_line {

// Returns the value of an environment variable; nullopt if it is not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

// Returns the name of the environment variable that gives a common flag its default.
std::string VariableOf(const CLI::Option& option);

// Returns the path of the configuration file. This is the value of MESHWRIGHT_CONFIG if the
// variable is set, even if it is empty. Otherwise it is meshwright/config.toml in the user's
// configuration folder if that file exists, or else an empty path.
std::string ConfigFile(const Environment& environment);

// Sets the defaults of the tree's options, and returns where each came from. An option with such a
// default is no longer required. Returns InvalidArgument if the file can't be read, if no option
// has a key's name (the message has the nearest names), or if an option refuses its value.
absl::StatusOr<DefaultSources> ApplyDefaults(CLI::App& app, const Environment& environment);

}  // namespace meshwright::command_line

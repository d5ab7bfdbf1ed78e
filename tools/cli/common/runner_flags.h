// RunnerFlags holds the flags that say in which framework a trial on the user's own machine runs:
// --runner and --field for a runner's file, or --command for a command line.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "executor/command/command_host.h"
#include "executor/command/runner.h"
#include "executor/trial/runner_choice.h"
#include "tools/cli/common/context.h"

namespace meshwright::cli {

// A runner, and the values that this run gives its fields.
struct ChosenRunner {
  command::Runner runner;
  trial::RunnerChoice choice;
};

struct RunnerFlags {
  std::string runner;     // a file
  std::string command;    // a command line
  std::string framework;  // profile, and target of export, of `command`
  std::string log = "json";
  std::vector<std::string> fields;

  void Add(CLI::App& app);
  // Returns the runner that the flags name; nullopt if they name none.
  absl::StatusOr<std::optional<ChosenRunner>> Read() const;
};

// Parses KEY=VALUE entries. Returns InvalidArgument, which names `flag`, if an entry has no '=' or
// a key comes twice.
absl::StatusOr<std::map<std::string, std::string>> ParseFieldValues(
    const std::string& flag, const std::vector<std::string>& entries);

// Returns what commands need from this machine. Their guard is `meshwright` itself
// (executor/guard/guard.h).
command::CommandHost HostOfCommands(const CommandContext& context);

}  // namespace meshwright::cli

// RunJsonRequest() runs a command with JSON arguments, for a program that runs commands in its own
// process.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "nlohmann/json.hpp"
#include "tools/cli/common/context.h"
#include "tools/cli/common/json_request.h"

namespace meshwright::cli {

// The command line as a whole, for commands that run other commands.
struct CommandTree {
  // Makes the command line with the top-level command `name`, or with every command if there is
  // none of this name (MakeCommand() in tools/cli/app.h). The commands use the context when they
  // run.
  std::function<std::unique_ptr<CLI::App>(CommandContext&, std::string_view name)> make;
  // Parses arguments, runs the command that they name and returns the exit code (RunWords() in
  // tools/cli/app.h).
  std::function<int(CLI::App&, const std::vector<std::string>&, CommandContext&)> run;
};

// Checks a request's arguments before its command runs. May be empty.
using CheckRequest = std::function<absl::Status(const CLI::App& command)>;

// Runs the request and sets `context.exit_code`. `defaults` has values of arguments for commands
// that have these arguments; the request's own values take precedence. The command reports its
// errors to `context.take_error`, in messages that name arguments, not flags. Returns an error only
// if the request itself is invalid. REQUIRES: `take_error` is not empty.
absl::Status RunJsonRequest(const CommandTree& tree, JsonRequest request,
                            const nlohmann::ordered_json& defaults, const CheckRequest& check,
                            CommandContext& context);

}  // namespace meshwright::cli

// RunJsonRequest() runs a command of the tree for a program, with JSON arguments.
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
  // Makes the command `name` of the top, which uses the context when it runs; all commands if there
  // is none of this name (MakeCommand() in tools/cli/app.h).
  std::function<std::unique_ptr<CLI::App>(CommandContext&, std::string_view name)> make;
  // Parses words, runs the command that they name and returns the exit code (tools/cli/app.h).
  std::function<int(CLI::App&, const std::vector<std::string>&, CommandContext&)> run;
};

// Checks a request's arguments before its command runs. May be empty.
using CheckRequest = std::function<absl::Status(const CLI::App& command)>;

// Runs the request, with those of `defaults` that its command has and the request does not say, and
// sets `context.exit_code`. The command reports its own errors to `context.take_error`, in messages
// that name arguments, not flags. Returns what is wrong with the request itself. REQUIRES:
// `take_error` is not empty.
absl::Status RunJsonRequest(const CommandTree& tree, JsonRequest request,
                            const nlohmann::ordered_json& defaults, const CheckRequest& check,
                            CommandContext& context);

}  // namespace meshwright::cli

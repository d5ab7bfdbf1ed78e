// A JsonRequest names a command and its arguments, for programs that run commands in their own
// process and read JSON:
//
//   {"command": "sweep start", "arguments": {"model": {…}, "gpus": 32}, "keep": ["plot"]}
//
// An argument has the name of the command's option, with underscores for dashes. Its value is a
// text, a number, true for a flag, a list for an option that takes several values, or an object,
// which is the JSON of the file that the option would otherwise name. null and false stand for an
// absent argument. The options that `keep` lists write no files; the answer has their texts
// instead.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"
#include "tools/cli/io/command_files.h"

namespace meshwright::cli {

struct JsonRequest {
  std::string command;
  nlohmann::ordered_json arguments = nlohmann::ordered_json::object();
  std::vector<std::string> keep;
};

// Returns the name of an option in requests: "global_batch" for --global-batch.
std::string ArgumentName(const CLI::Option& option);

// Reads the JSON of a request. Returns InvalidArgument, which names a key that is unknown or has a
// value of the wrong type.
absl::StatusOr<JsonRequest> ReadJsonRequest(std::string_view text);

// Returns the command of the tree below `app` with this name, such as "sweep start". Returns
// NotFound with the nearest names if there is none, and InvalidArgument if the command prints no
// JSON.
absl::StatusOr<CLI::App*> JsonCommand(CLI::App& app, std::string_view name);

// Adds to the request each argument of `defaults` that `command` has and the request does not give.
void AddDefaults(const nlohmann::ordered_json& defaults, const CLI::App& command,
                 JsonRequest& request);

// Returns the command-line arguments that run the request, whose command is `command`. Supplies to
// `files` the texts that the command reads, and tells `files` which texts to keep. Returns
// InvalidArgument for an argument that the command does not have, with the nearest names, and for a
// value of the wrong type.
absl::StatusOr<std::vector<std::string>> WordsOf(const JsonRequest& request,
                                                 const CLI::App& command, CommandFiles& files);

// Returns the command's message with the names of its options replaced by those of arguments:
// "global_batch" for "--global-batch".
std::string InArgumentNames(std::string message, const CLI::App& command);

}  // namespace meshwright::cli

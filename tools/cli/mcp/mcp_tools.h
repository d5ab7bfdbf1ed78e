// The tools that `meshwright mcp` offers: commands that read, and on request those that start and
// end sweeps.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "nlohmann/json.hpp"

namespace meshwright::cli {

struct McpTool {
  std::string_view name;
  std::string_view command;
  std::string_view schema;  // of its answer: a file of docs/schema, by stem
  // Arguments of the command that the tool does not have, since they write a file or make another
  // answer.
  std::array<std::string_view, 4> hidden = {};
  bool needs_server = false;
  bool changes_sweeps = false;
};

// Returns the tools, by what the server may do.
std::vector<McpTool> McpTools(bool has_server, bool may_change_sweeps);

// Returns what `tools/list` says of the tool; `command` is its command.
nlohmann::ordered_json McpListing(const McpTool& tool, const CLI::App& command);

// Returns InvalidArgument if an argument is none of the tool's, or would make another answer.
absl::Status CheckMcpArguments(const McpTool& tool, const CLI::App& command,
                               const nlohmann::ordered_json& arguments);

}  // namespace meshwright::cli

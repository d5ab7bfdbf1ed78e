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
  std::string_view schema;  // of its answer: a file name in docs/schema, without .json
  // Arguments of the command that the tool does not have, since they write a file or make the
  // command print an answer that `schema` does not describe.
  std::array<std::string_view, 4> hidden = {};
  bool needs_server = false;
  bool changes_sweeps = false;
};

// Returns the tools that an MCP server with these permissions offers.
std::vector<McpTool> McpTools(bool has_server, bool may_change_sweeps);

// Returns the tool's entry in the answer to `tools/list`. `command` is the tool's command.
nlohmann::ordered_json McpListing(const McpTool& tool, const CLI::App& command);

// Returns InvalidArgument if the tool does not have an argument, or if a value would make the
// command print an answer that McpTool::schema does not describe (a range of GPU counts).
absl::Status CheckMcpArguments(const McpTool& tool, const CLI::App& command,
                               const nlohmann::ordered_json& arguments);

}  // namespace meshwright::cli

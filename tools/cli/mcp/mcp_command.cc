#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_replace.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "tools/cli/commands.h"
#include "tools/cli/common/server_flags.h"
#include "tools/cli/mcp/mcp_server.h"
#include "tools/command_line/declare.h"

namespace meshwright::cli {
namespace {

struct McpFlags {
  ServerFlags server;
  std::string root = ".";
  bool allow_sweeps = false;
};

// The server's flags as arguments of every tool that asks it.
nlohmann::ordered_json ServerArguments(const ServerFlags& server) {
  nlohmann::ordered_json arguments = nlohmann::ordered_json::object();
  if (server.empty()) return arguments;
  const std::vector<std::string> words = server.ToWords();
  for (size_t i = 0; i + 1 < words.size(); i += 2) {
    arguments[absl::StrReplaceAll(words[i].substr(2), {{"-", "_"}})] =
        std::filesystem::exists(words[i + 1]) ? std::filesystem::absolute(words[i + 1]).string()
                                              : words[i + 1];
  }
  return arguments;
}

absl::Status RunMcp(const McpFlags& flags, const CommandTree& tree, CommandContext& context) {
  if (flags.allow_sweeps && flags.server.empty()) {
    return FieldError("allow_sweeps", "true", "needs --server, since sweeps run on a server");
  }
  McpOptions options = {.tree = tree,
                        .root = flags.root,
                        .arguments = ServerArguments(flags.server),
                        .may_change_sweeps = flags.allow_sweeps};
  std::error_code error;
  // Relative paths of requests are those below the folder.
  std::filesystem::current_path(flags.root, error);
  if (error) return FieldError("root", flags.root, "must be a folder: " + error.message());
  options.root = std::filesystem::current_path().string();
  McpServer server(std::move(options), context, context.out);
  server.Serve(std::cin);
  return absl::OkStatus();
}

}  // namespace

void AddMcpCommand(CLI::App& app, CommandTree tree, CommandContext& context) {
  auto flags = std::make_shared<McpFlags>();
  CLI::App* command = app.add_subcommand(
      "mcp", "Answer a coding agent over the Model Context Protocol, on standard input and output");
  command
      ->add_option("--root", flags->root,
                   "Folder below which requests may name files of models and clusters")
      ->capture_default_str()
      ->option_text("DIR");
  command->add_flag("--allow-sweeps", flags->allow_sweeps,
                    "Let requests start and cancel sweeps, where the role on the server allows it");
  flags->server.Add(*command, "Also ask this server for its history and sweeps", context);
  command_line::AddExample(*command, "meshwright mcp --root models");
  command->callback([flags, tree = std::move(tree), &context] {
    const absl::Status status = RunMcp(*flags, tree, context);
    if (!status.ok()) context.exit_code = ReportError(context, OutputFormat::kText, status);
  });
}

}  // namespace meshwright::cli

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "base/text/field_error.h"
#include "base/text/nearest.h"
#include "base/text/status_macros.h"
#include "tools/cli/commands.h"
#include "tools/cli/io/whole_file.h"
#include "tools/command_line/completion.h"
#include "tools/command_line/declare.h"
#include "tools/command_line/man_page.h"

namespace meshwright::cli {
namespace {

constexpr char kCompletionNotes[] = R"(
The script asks the program itself for what may come next, so it fits every later release. For one
shell, and for all later ones:

  bash    source <(meshwright completion bash); or write it to
          ~/.local/share/bash-completion/completions/meshwright
  zsh     source <(meshwright completion zsh); or write it to _meshwright in a folder of $fpath
  fish    meshwright completion fish | source; or write it to
          ~/.config/fish/completions/meshwright.fish)";

absl::Status PrintHelp(const CLI::App& app, const std::vector<std::string>& path,
                       CommandContext& context) {
  const CLI::App* command = &app;
  for (const std::string& word : path) {
    std::vector<std::string> known;
    const CLI::App* found = nullptr;
    for (const CLI::App* inner : command->get_subcommands([](const CLI::App*) { return true; })) {
      known.push_back(inner->get_name());
      if (inner->get_name() == word) found = inner;
    }
    if (found == nullptr) return UnknownName("command", absl::StrJoin(path, " "), known);
    command = found;
  }
  context.out << command->get_formatter()->make_help(command, command_line::CommandPath(*command),
                                                     CLI::AppFormatMode::Normal);
  return absl::OkStatus();
}

// The command tree is made anew, so that the pages do not show this user's defaults.
absl::Status WriteManPages(const std::string& folder, const MakeTree& make_tree,
                           CommandContext& context) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return FieldError("folder", folder, "cannot be made: " + error.message());
  const std::unique_ptr<CLI::App> commands = make_tree(context);
  for (const command_line::ManPage& page : command_line::ManPages(*commands, MESHWRIGHT_VERSION)) {
    RETURN_IF_ERROR(WriteWholeFile("folder", folder + "/" + page.file, page.text));
  }
  return absl::OkStatus();
}

void Finish(CommandContext& context, const absl::Status& status) {
  if (!status.ok()) context.exit_code = ReportError(context, OutputFormat::kText, status);
}

}  // namespace

void AddAboutCommands(CLI::App& app, MakeTree make_tree, CommandContext& context) {
  auto path = std::make_shared<std::vector<std::string>>();
  CLI::App* help = app.add_subcommand("help", "Show the help of a command");
  help->add_option("command", *path, "The command, in one word or more")->option_text("COMMAND");
  command_line::AddExample(*help, "meshwright help sweep start");
  help->callback([&app, path, &context] { Finish(context, PrintHelp(app, *path, context)); });

  CLI::App* version = app.add_subcommand("version", "Print the version");
  command_line::AddExample(*version, "meshwright version");
  version->callback([&context] { context.out << MESHWRIGHT_VERSION << "\n"; });

  auto shell = std::make_shared<std::string>();
  CLI::App* completion =
      app.add_subcommand("completion", "Print the script that completes commands in a shell");
  command_line::TakeWords(completion->add_option("shell", *shell, "The shell"),
                          command_line::Shells())
      ->required();
  completion->footer(kCompletionNotes);
  command_line::AddExample(*completion, "meshwright completion bash");
  completion->callback(
      [shell, &context] { context.out << command_line::CompletionScript(*shell); });

  auto folder = std::make_shared<std::string>();
  CLI::App* man = app.add_subcommand("man", "Write a manual page for every command");
  man->add_option("folder", *folder, "Folder for the pages; it is created if it does not exist")
      ->required()
      ->option_text("DIR");
  command_line::AddExample(*man, "meshwright man share/man/man1");
  man->callback([folder, make_tree = std::move(make_tree), &context] {
    Finish(context, WriteManPages(*folder, make_tree, context));
  });
}

}  // namespace meshwright::cli

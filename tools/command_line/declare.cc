#include "tools/command_line/declare.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace meshwright::command_line {
namespace {

constexpr absl::string_view kExample = "Example: ";

// Returns "a, b or c".
std::string Alternatives(const std::vector<std::string>& words) {
  if (words.size() < 2) return absl::StrJoin(words, "");
  return absl::StrCat(absl::StrJoin(words.begin(), words.end() - 1, ", "), " or ", words.back());
}

bool IsShown(const CLI::App& command, const CLI::Option* option) {
  return option != command.get_help_ptr() && !option->get_group().empty();
}

}  // namespace

void AddExample(CLI::App& command, const std::string& command_line) {
  const std::string footer = command.get_footer();
  command.footer(absl::StrCat(footer, footer.empty() ? "" : "\n", kExample, command_line));
}

std::vector<std::string> ExamplesOf(const CLI::App& command) {
  std::vector<std::string> examples;
  const std::string footer = command.get_footer();
  for (absl::string_view line : absl::StrSplit(footer, '\n')) {
    if (absl::ConsumePrefix(&line, kExample)) examples.emplace_back(line);
  }
  return examples;
}

std::string NotesOf(const CLI::App& command) {
  std::vector<std::string> kept;
  const std::string footer = command.get_footer();
  for (const absl::string_view line : absl::StrSplit(footer, '\n')) {
    if (!absl::StartsWith(line, kExample)) kept.emplace_back(line);
  }
  return std::string(absl::StripAsciiWhitespace(absl::StrJoin(kept, "\n")));
}

CLI::Option* TakeWords(CLI::Option* option, const std::vector<std::string>& words) {
  const auto choose = [words](std::string& typed) {
    for (const std::string& word : words) {
      if (absl::EqualsIgnoreCase(word, typed)) {
        typed = word;
        return std::string();
      }
    }
    return absl::StrCat(typed, ": must be ", Alternatives(words));
  };
  return option->transform(CLI::Validator(choose, ""))->option_text(absl::StrJoin(words, "|"));
}

const CLI::App& ParsedCommand(const CLI::App& app) {
  const std::vector<CLI::App*> parsed = app.get_subcommands();
  return parsed.empty() ? app : ParsedCommand(*parsed.back());
}

std::string CommandPath(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return parent == nullptr ? command.get_name()
                           : absl::StrCat(CommandPath(*parent), " ", command.get_name());
}

std::vector<CLI::App*> CommandsOf(CLI::App& app) {
  std::vector<CLI::App*> commands = {&app};
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    if (command->get_group().empty()) continue;
    const std::vector<CLI::App*> inner = CommandsOf(*command);
    commands.insert(commands.end(), inner.begin(), inner.end());
  }
  return commands;
}

std::vector<CLI::Option*> OptionsOf(CLI::App& command) {
  return command.get_options([&](const CLI::Option* option) { return IsShown(command, option); });
}

std::vector<const CLI::Option*> OptionsOf(const CLI::App& command) {
  return command.get_options([&](const CLI::Option* option) { return IsShown(command, option); });
}

bool TakesValue(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

std::string NameOf(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true, false);
  return option.get_lnames().empty() ? absl::StrCat("-", option.get_snames().front())
                                     : absl::StrCat("--", option.get_lnames().front());
}

std::string ValueText(const CLI::Option& option) {
  if (!TakesValue(option)) return "";
  const std::string& text = option.get_option_text();
  return text.empty() ? option.get_type_name() : text;
}

}  // namespace meshwright::command_line

#include "tools/command_line/help.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "tools/command_line/declare.h"
#include "tools/command_line/notes.h"

namespace meshwright::command_line {
namespace {

constexpr size_t kColumns = 80;
constexpr char kUsage[] = "Usage: ";
constexpr char kContinued[] = " \\";
constexpr char kContinuation[] = "    ";

bool HasCommands(const CLI::App& command) { return command.get_require_subcommand_min() > 0; }

std::string FormatUsage(const std::string& name, const std::vector<std::string>& usage) {
  std::string out;
  const std::string indent(sizeof(kUsage) - 1 + name.size() + 1, ' ');
  for (const std::string& line : Wrapped(usage, kColumns - indent.size())) {
    absl::StrAppend(&out, out.empty() ? absl::StrCat(kUsage, name, " ") : indent, line, "\n");
  }
  return out;
}

std::string FormatGroup(const std::string& title, const std::vector<const CLI::Option*>& options) {
  if (options.empty()) return "";
  std::string out = absl::StrCat("\n", title, ":\n");
  for (const CLI::Option* option : options) {
    out += TwoColumns(OptionTerm(*option), OptionText(*option));
  }
  return out;
}

std::string FormatOptions(const CLI::App& command) {
  std::vector<const CLI::Option*> arguments;
  std::vector<const CLI::Option*> own;
  std::vector<const CLI::Option*> common;
  for (const CLI::Option* option : OptionsOf(command)) {
    (option->get_positional()              ? arguments
     : option->get_group() == kCommonFlags ? common
                                           : own)
        .push_back(option);
  }
  // Help itself is the last entry.
  if (command.get_help_ptr() != nullptr) common.push_back(command.get_help_ptr());
  return FormatGroup("Arguments", arguments) + FormatGroup("Flags", own) +
         FormatGroup(kCommonFlags, common);
}

std::string FormatCommands(const CLI::App& command) {
  std::string out;
  for (const CLI::App* inner : command.get_subcommands([](const CLI::App*) { return true; })) {
    if (inner->get_group().empty()) continue;
    absl::StrAppend(&out, out.empty() ? "\nCommands:\n" : "",
                    TwoColumns(inner->get_name(), inner->get_description()));
  }
  return out;
}

std::string FormatExamples(const CLI::App& command) {
  const std::vector<std::string> examples = ExamplesOf(command);
  if (examples.empty()) return "";
  std::string out = examples.size() == 1 ? "\nExample:\n" : "\nExamples:\n";
  for (const std::string& example : examples) {
    absl::StrAppend(&out, FormatCommandLine(example), "\n");
  }
  return out;
}

bool EndsInQuotes(const std::string& piece) {
  return std::count(piece.begin(), piece.end(), '\'') % 2 == 1;
}

// Splits a command line into words, each flag in one piece with its value, and what single quotes
// enclose in one piece.
std::vector<std::string> WithTheirValues(const std::string& command_line) {
  std::vector<std::string> pieces;
  for (const absl::string_view word : absl::StrSplit(command_line, ' ')) {
    const bool value = !pieces.empty() && pieces.back().front() == '-' && word.front() != '-' &&
                       pieces.back().find(' ') == std::string::npos;
    if (value || (!pieces.empty() && EndsInQuotes(pieces.back()))) {
      absl::StrAppend(&pieces.back(), " ", word);
    } else {
      pieces.emplace_back(word);
    }
  }
  return pieces;
}

}  // namespace

std::string OptionTerm(const CLI::Option& option) {
  const std::string name = option.get_positional() ? NameOf(option) : option.get_name(false, true);
  const std::string values = option.get_positional() ? "" : ValueText(option);
  return values.empty() ? name : absl::StrCat(name, " ", values);
}

std::string OptionText(const CLI::Option& option) {
  std::string text = option.get_description();
  const std::string values = option.get_positional() ? ValueText(option) : "";
  if (values.find('|') != std::string::npos) absl::StrAppend(&text, ": ", values);
  if (option.get_required()) return text + " (required)";
  const std::string value = option.get_default_str();
  if (TakesValue(option) && !value.empty()) absl::StrAppend(&text, " (default ", value, ")");
  return text;
}

std::vector<std::string> UsageOf(const CLI::App& command) {
  std::vector<std::string> parts;
  for (const CLI::Option* option : OptionsOf(command)) {
    if (option->get_positional()) {
      parts.push_back(option->get_required() ? NameOf(*option)
                                             : absl::StrCat("[", NameOf(*option), "]"));
    }
  }
  for (const CLI::Option* option : OptionsOf(command)) {
    if (!option->get_positional() && option->get_required()) {
      parts.push_back(absl::StrCat(NameOf(*option), " ", ValueText(*option)));
    }
  }
  parts.push_back(HasCommands(command) ? "COMMAND" : "[FLAGS]");
  return parts;
}

std::string FormatCommandLine(const std::string& command_line) {
  const size_t room = kColumns - sizeof(kContinued) - sizeof(kContinuation);
  return absl::StrCat("  ", absl::StrJoin(Wrapped(WithTheirValues(command_line), room),
                                          absl::StrCat(kContinued, "\n", kContinuation)));
}

std::string HelpFormatter::make_help(const CLI::App* command, std::string name,
                                     CLI::AppFormatMode) const {
  std::string out = FormatUsage(name.empty() ? command->get_name() : name, UsageOf(*command));
  out += "\n";
  for (const std::string& line : Wrapped(command->get_description(), kColumns)) out += line + "\n";
  out += FormatOptions(*command);
  out += FormatCommands(*command);
  const std::string notes = FormatNotes(NotesOf(*command));
  if (!notes.empty()) out += "\n" + notes;
  return out + FormatExamples(*command);
}

}  // namespace meshwright::command_line

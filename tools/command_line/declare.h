// These functions declare commands and options with properties that CLI11 lacks, such as examples.
// The properties are kept in CLI11's tree. Help, completion, man pages and defaults are made from
// that tree, so that no flag or command is listed twice.
//
// The text of an option's values (CLI::Option::option_text) is parsed. It holds alternatives
// separated by bars. A lower-case word is literal ("text|json"); capitals are a placeholder ("N",
// "X"). FILE and DIR are completed with paths; the placeholders that tools/cli/app.cc knows are
// completed with names of presets. "cpu:N" is completed with its literal beginning, "cpu:".
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"

namespace meshwright::command_line {

// The group of flags that have the same meaning in every command, such as --server. Help shows them
// last, and the environment and the top of the configuration file may set their defaults.
inline constexpr char kCommonFlags[] = "Common flags";

// Adds a whole command line, "meshwright recommend …", to the help of `command`. REQUIRES: the
// command accepts that line.
void AddExample(CLI::App& command, const std::string& command_line);
// Returns the command lines that AddExample() added.
std::vector<std::string> ExamplesOf(const CLI::App& command);
// Returns the footer of a command without its examples.
std::string NotesOf(const CLI::App& command);

// Lets `option` take one of `words`, in upper or lower case, and nothing else. Returns `option`.
CLI::Option* TakeWords(CLI::Option* option, const std::vector<std::string>& words);

// Adds an option that takes a word for each value of an enum. `value` holds the default, and the
// chosen value after parsing.
template <typename Enum>
CLI::Option* AddEnumOption(CLI::App& app, const std::string& name, Enum& value,
                           const std::string& description,
                           const std::vector<std::pair<std::string, Enum>>& values) {
  std::vector<std::string> words;
  std::string chosen;
  for (const auto& [word, meaning] : values) {
    words.push_back(word);
    if (meaning == value) chosen = word;
  }
  CLI::Option* option = app.add_option_function<std::string>(
      name,
      [&value, values](const std::string& typed) {
        for (const auto& [word, meaning] : values) {
          if (word == typed) value = meaning;
        }
      },
      description);
  return TakeWords(option, words)->default_str(chosen)->run_callback_for_default();
}

// Returns the command that was typed: the last one in the chain of parsed commands.
const CLI::App& ParsedCommand(const CLI::App& app);

// Returns the command's name after those of its parents, such as "meshwright sweep start".
std::string CommandPath(const CLI::App& command);

// Returns `app` and every command of the tree below it, parents first. Hidden commands, which have
// no group, are left out with all below them.
std::vector<CLI::App*> CommandsOf(CLI::App& app);

// Return the options of `command` in the order of their declaration. Help and hidden options, which
// have no group, are left out.
std::vector<CLI::Option*> OptionsOf(CLI::App& command);
std::vector<const CLI::Option*> OptionsOf(const CLI::App& command);

// Returns whether an option takes a value. A plain flag takes none.
bool TakesValue(const CLI::Option& option);

// Returns the option's name: "--model", "-V", or "kind" for an argument without dashes.
std::string NameOf(const CLI::Option& option);

// Returns the option's values in the form of the help, "FILE" or "text|json"; empty if it takes
// none.
std::string ValueText(const CLI::Option& option);

}  // namespace meshwright::command_line

// What a command declares beyond CLI11's own words. Everything is kept in CLI11's tree, which help,
// completion, man pages and defaults are made from: no flag or command is listed a second time.
//
// The text of an option's values (CLI::Option::option_text) is read too. It holds alternatives
// between bars: a word stands for itself ("text|json"), capitals for something else ("N", "X");
// FILE and DIR are completed with paths, and with presets those placeholders that
// tools/cli/placeholders.h knows. "cpu:N" begins with its word.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"

namespace meshwright::command_line {

// The group of flags that mean the same wherever they stand, such as --server. Help shows them
// last; the environment and the top of the configuration file give them defaults.
inline constexpr char kCommonFlags[] = "Common flags";

// Adds a whole command line, "meshwright recommend …", to the help of `command`, which must take it
// as it stands.
void AddExample(CLI::App& command, const std::string& command_line);
std::vector<std::string> ExamplesOf(const CLI::App& command);
// The footer of a command without its examples.
std::string NotesOf(const CLI::App& command);

// Lets `option` take one of `words`, in any case, and nothing else.
CLI::Option* TakeWords(CLI::Option* option, const std::vector<std::string>& words);

// An option with a word for each value of an enum; `value` holds the default.
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

// The command that was asked for: the last one in the chain of those parsed.
const CLI::App& ParsedCommand(const CLI::App& app);

// "meshwright sweep start".
std::string CommandPath(const CLI::App& command);

// Every command of the tree below and with `app`, parents first; hidden ones (of no group) are left
// out.
std::vector<CLI::App*> CommandsOf(CLI::App& app);

// The options of `command` in the order in which they were declared; help and hidden ones (of no
// group) are left out.
std::vector<CLI::Option*> OptionsOf(CLI::App& command);
std::vector<const CLI::Option*> OptionsOf(const CLI::App& command);

// Whether an option takes a value, as a flag does not.
bool TakesValue(const CLI::Option& option);

// "--model", "-V", or "kind" of an argument without dashes.
std::string NameOf(const CLI::Option& option);

// "FILE", "text|json": how the help calls the values; empty where there are none.
std::string ValueText(const CLI::Option& option);

}  // namespace meshwright::command_line

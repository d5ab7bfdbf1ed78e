// Declarations that commands need beyond CLI11's own. Everything is kept in CLI11's tree, from
// which help, completion, man pages and defaults are made: no flag or command is listed a second
// time.
//
// The text of an option's values (CLI::Option::option_text) is parsed too. It holds alternatives
// separated by bars: a lower-case word is literal ("text|json"), capitals are a placeholder ("N",
// "X"); FILE and DIR are completed with paths, and the placeholders that
// tools/cli/app.cc knows with presets. "cpu:N" begins with a literal.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"

namespace meshwright::command_line {

// The group of flags that mean the same in every command, such as --server. Help shows them last;
// the environment and the top of the configuration file give them defaults.
inline constexpr char kCommonFlags[] = "Common flags";

// Adds a whole command line, "meshwright recommend …", to the help of `command`, which must accept
// it as it is.
void AddExample(CLI::App& command, const std::string& command_line);
std::vector<std::string> ExamplesOf(const CLI::App& command);
// Returns the footer of a command without its examples.
std::string NotesOf(const CLI::App& command);

// Lets `option` take one of `words`, in any case, and nothing else.
CLI::Option* TakeWords(CLI::Option* option, const std::vector<std::string>& words);

// Adds an option with a word for each value of an enum; `value` holds the default.
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

// Returns "meshwright sweep start".
std::string CommandPath(const CLI::App& command);

// Returns `app` and every command of the tree below it, parents first, without hidden ones (of no
// group).
std::vector<CLI::App*> CommandsOf(CLI::App& app);

// Returns the options of `command` in the order of their declaration, without help and hidden ones
// (of no group).
std::vector<CLI::Option*> OptionsOf(CLI::App& command);
std::vector<const CLI::Option*> OptionsOf(const CLI::App& command);

// Whether an option takes a value, unlike a flag.
bool TakesValue(const CLI::Option& option);

// Returns "--model", "-V", or "kind" of an argument without dashes.
std::string NameOf(const CLI::Option& option);

// Returns "FILE" or "text|json", as help names the values; empty where there are none.
std::string ValueText(const CLI::Option& option);

}  // namespace meshwright::command_line

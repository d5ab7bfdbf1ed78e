// ShellVariables holds the values of a script's variables, as lists of words. A value is
// conditional if the script sets it in a branch that may not run.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "planner/interchange/config_entry.h"
#include "planner/interchange/shell_conditions.h"
#include "planner/interchange/shell_word.h"

namespace meshwright::planner {

// Returns whether the text is a name of a variable.
bool IsShellName(std::string_view text);
bool IsShellNameStart(char c);
bool IsShellNameChar(char c);

class ShellVariables {
 public:
  explicit ShellVariables(const Variables& environment);

  // Sets the variable unless `runs` is kFalse. `joins` appends the first of `words` to the last
  // word of the value, as NAME+=text does.
  void Assign(const std::string& name, std::vector<ShellWord> words, ShellTruth runs, bool appends,
              bool joins = false);
  // Returns the words of the variable. If it is not set, returns `otherwise`; without `otherwise`,
  // returns an unknown word.
  std::vector<ShellWord> ValueOf(const std::string& name, std::optional<std::string> otherwise);
  // Returns the value of $((inside)), which is known only if it is a product of whole numbers.
  ShellWord ProductOf(std::string_view inside);

  // Returns whether the expanded text exceeds the limit of bytes for a file.
  bool TooLong() const;
  // CountWords() adds words of commands to those of variables. TooManyWords() returns whether the
  // sum is above the limit of a file.
  void CountWords(size_t words) { words_ += words; }
  bool TooManyWords() const;

  // The arguments that $@ stands for; nullopt: those with which a user calls the whole script.
  std::optional<std::vector<ShellWord>> arguments = std::nullopt;

 private:
  std::map<std::string, std::vector<ShellWord>> values_;
  size_t words_ = 0;
  size_t expanded_bytes_ = 0;
};

}  // namespace meshwright::planner

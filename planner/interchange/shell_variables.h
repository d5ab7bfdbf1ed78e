// ShellVariables hold the values of a script's variables, as lists of words. A value that only some
// branch of the script sets is conditional.
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

  // Sets the variable where `runs` is not false. `joins` appends the first word to the last one of
  // the value, as NAME+=text does.
  void Assign(const std::string& name, std::vector<ShellWord> words, ShellTruth runs, bool appends,
              bool joins = false);
  // Returns the words of the variable; `otherwise` if it is not set; an unknown word if neither is.
  std::vector<ShellWord> ValueOf(const std::string& name, std::optional<std::string> otherwise);
  // Returns the value of $((inside)), which is known of products of whole numbers alone.
  ShellWord ProductOf(std::string_view inside);

  // Returns whether expansions have made more bytes than a file may.
  bool TooLong() const;
  // Counts words of commands beside those of variables, and returns whether a file has too many.
  void CountWords(size_t words) { words_ += words; }
  bool TooManyWords() const;

  // The arguments that $@ stands for; nullopt: those of the whole script, which a user adds.
  std::optional<std::vector<ShellWord>> arguments = std::nullopt;

 private:
  std::map<std::string, std::vector<ShellWord>> values_;
  size_t words_ = 0;
  size_t expanded_bytes_ = 0;
};

}  // namespace meshwright::planner

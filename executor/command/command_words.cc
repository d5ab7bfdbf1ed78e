#include "executor/command/command_words.h"

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"

namespace meshwright::command {
namespace {

constexpr std::string_view kShellsOwn = "$`;&|<>()";
constexpr std::string_view kShellsOwnInQuotes = "$`";

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

absl::Status Expands(std::string_view line, char c) {
  return FieldError("command", line,
                    absl::StrCat("must have ", std::string(1, c),
                                 " in single quotes: no shell reads the command"));
}

}  // namespace

absl::StatusOr<std::vector<std::string>> CommandWords(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = '\0';
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote == '\0' && IsBlank(c)) {
      if (in_word) words.push_back(word);
      word.clear();
      in_word = false;
      continue;
    }
    in_word = true;
    if (c == quote) {
      quote = '\0';
    } else if (quote == '\0' && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == '\\' && quote != '\'' && i + 1 < line.size()) {
      word += line[++i];
    } else if (quote != '\'' && (quote == '\0' ? kShellsOwn : kShellsOwnInQuotes).find(c) !=
                                    std::string_view::npos) {
      return Expands(line, c);
    } else {
      word += c;
    }
  }
  if (quote != '\0') {
    return FieldError("command", line, absl::StrCat("must end the quote ", std::string(1, quote)));
  }
  if (in_word) words.push_back(word);
  return words;
}

}  // namespace meshwright::command

#include "tools/cli/launcher/sbatch_options.h"

#include <array>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"

namespace meshwright::cli {
namespace {

constexpr std::string_view kOwnSbatchOptions[] = {
    "array",  "clusters", "comment",         "dependency", "job-name", "nodes",     "no-requeue",
    "ntasks", "output",   "ntasks-per-node", "requeue",    "wait",     "test-only", "wrap"};

constexpr std::array<std::pair<char, std::string_view>, 9> kSbatchLetters = {
    {{'a', "array"},
     {'d', "dependency"},
     {'J', "job-name"},
     {'M', "clusters"},
     {'N', "nodes"},
     {'n', "ntasks"},
     {'o', "output"},
     {'s', "oversubscribe"},
     {'W', "wait"}}};
// Letters of options without a value, after which further letters may follow.
constexpr std::string_view kLettersWithoutValue = "hHIkOQsuvVW";

std::string NameOfLetter(char letter) {
  for (const auto& [known, name] : kSbatchLetters) {
    if (known == letter) return std::string(name);
  }
  return {'-', letter};
}

// Splits the line as sbatch does: blanks separate words, quotes and backslashes protect blanks, and
// the rest of the line after a bare # is a comment.
std::vector<std::string> SbatchWords(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  bool has_word = false;
  char quote = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const bool is_bare = quote == 0;
    if (is_bare && c == '#') break;
    if (is_bare && absl::ascii_isspace(static_cast<unsigned char>(c))) {
      if (has_word) words.push_back(std::exchange(word, ""));
      has_word = false;
      continue;
    }
    has_word = true;
    if (is_bare && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    } else if (c == '\\' && i + 1 < line.size()) {
      word += line[++i];
    } else {
      word += c;
    }
  }
  if (has_word) words.push_back(word);
  return words;
}

}  // namespace

std::string_view OwnOption(std::string_view name) {
  for (const std::string_view own : kOwnSbatchOptions) {
    if (own.starts_with(name)) return own;
  }
  return "";
}

std::vector<std::string> OptionsOfLine(std::string_view line) {
  std::vector<std::string> options;
  for (const std::string& word : SbatchWords(line)) {
    if (word.starts_with("--")) {
      options.push_back(word.substr(2, word.find('=') - 2));
    } else if (word.starts_with('-')) {
      for (size_t i = 1; i < word.size(); ++i) {
        options.push_back(NameOfLetter(word[i]));
        if (kLettersWithoutValue.find(word[i]) == std::string_view::npos) break;
      }
    }
  }
  return options;
}

}  // namespace meshwright::cli

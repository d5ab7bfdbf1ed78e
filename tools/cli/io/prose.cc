#include "tools/cli/io/prose.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/text/string_view.h"
#include "tools/cli/io/terminal.h"

namespace meshwright::cli {
namespace {

constexpr int64_t kColumns = 80;
constexpr size_t kLongestUnit = 4;  // as in "46.83 GiB,"

// Returns the words, of which those of a number and its unit are one.
std::vector<std::string> WordsOf(absl::string_view text) {
  std::vector<std::string> words;
  for (const absl::string_view word : absl::StrSplit(text, ' ')) {
    const bool is_unit = !words.empty() && !words.back().empty() &&
                         absl::ascii_isdigit(static_cast<unsigned char>(words.back().back())) &&
                         word.size() <= kLongestUnit;
    if (is_unit) {
      absl::StrAppend(&words.back(), " ", word);
    } else {
      words.emplace_back(word);
    }
  }
  return words;
}

}  // namespace

void PrintProse(std::string_view text, std::ostream& out, int indent) {
  const size_t lead = std::min(text.find_first_not_of(' '), text.size());
  std::string line(lead, ' ');
  bool begun = false;  // whether the line has a word
  for (const std::string& word : WordsOf(AbslView(text.substr(lead)))) {
    const bool fits = DisplayWidth(line) + 1 + DisplayWidth(word) <= kColumns;
    if (begun && !fits) {
      out << line << '\n';
      line = std::string(static_cast<size_t>(indent), ' ') + word;
    } else {
      if (begun) line += ' ';
      line += word;
    }
    begun = true;
  }
  out << line << '\n';
}

}  // namespace meshwright::cli

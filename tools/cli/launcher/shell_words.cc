#include "tools/cli/launcher/shell_words.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace meshwright::cli {
namespace {

std::string Quoted(const std::string& word) {
  const bool plain = std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return absl::ascii_isalnum(c) ||
           absl::string_view("-_./:,=+@").find(c) != absl::string_view::npos;
  });
  if (plain && !word.empty()) return word;
  return absl::StrCat("'", absl::StrReplaceAll(word, {{"'", "'\\''"}}), "'");
}

}  // namespace

std::string ShellLine(const std::vector<std::string>& words) {
  return absl::StrJoin(
      words, " ", [](std::string* line, const std::string& word) { line->append(Quoted(word)); });
}

}  // namespace meshwright::cli

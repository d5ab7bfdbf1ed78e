#include "planner/interchange/shell_variables.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/text/string_view.h"

namespace meshwright::planner {
namespace {

// The most words of all commands and variables, and the most bytes that expansions of variables
// make. Scripts that double a variable again and again end here.
constexpr size_t kMostWords = size_t{1} << 16;
constexpr size_t kMostExpandedBytes = size_t{1} << 24;
constexpr int64_t kMostFactor = int64_t{1} << 20;

// Variables that tell a node or a rank which one it is. A default of theirs decides no condition.
constexpr std::string_view kPlaces[] = {"NODE_RANK",    "RANK",         "LOCAL_RANK",
                                        "SLURM_PROCID", "SLURM_NODEID", "SLURM_LOCALID"};

bool IsPlace(std::string_view name) {
  return std::find(std::begin(kPlaces), std::end(kPlaces), name) != std::end(kPlaces);
}

}  // namespace

bool IsShellNameStart(char c) {
  return absl::ascii_isalpha(static_cast<unsigned char>(c)) || c == '_';
}

bool IsShellNameChar(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_';
}

bool IsShellName(std::string_view text) {
  return !text.empty() && IsShellNameStart(text[0]) &&
         std::all_of(text.begin(), text.end(), IsShellNameChar);
}

ShellVariables::ShellVariables(const Variables& environment) {
  for (const auto& [name, value] : environment) values_[name] = {{value}};
}

void ShellVariables::Assign(const std::string& name, std::vector<ShellWord> words, ShellTruth runs,
                            bool appends, bool joins) {
  if (runs == ShellTruth::kFalse) return;
  std::vector<ShellWord>& value = values_[name];
  if (runs == ShellTruth::kUnknown) {
    for (ShellWord& word : words) word.conditional = true;
    // What was there stays possible; both are conditional unless the new words only follow.
    if (!appends) {
      for (ShellWord& word : value) word.conditional = true;
      if (value.size() == 1 && words.size() == 1) {
        value.front().unknown = name;
        return;
      }
    }
  } else if (!appends) {
    value.clear();
  }
  if (joins && !value.empty() && !words.empty()) {
    value.back().text += words.front().text;
    if (!words.front().known()) value.back().unknown = words.front().unknown;
    return;
  }
  words_ += words.size();
  value.insert(value.end(), words.begin(), words.end());
}

std::vector<ShellWord> ShellVariables::ValueOf(const std::string& name,
                                               std::optional<std::string> otherwise) {
  const auto found = values_.find(name);
  if (found != values_.end()) {
    for (const ShellWord& word : found->second) expanded_bytes_ += word.text.size() + 1;
    if (TooLong()) return {{"", name}};
    return found->second;
  }
  if (otherwise) return {{.text = *otherwise, .varies = IsPlace(name)}};
  return {{"", name}};
}

ShellWord ShellVariables::ProductOf(std::string_view inside) {
  int64_t product = 1;
  for (const absl::string_view factor : absl::StrSplit(AbslView(inside), '*')) {
    absl::string_view name = absl::StripAsciiWhitespace(factor);
    absl::ConsumePrefix(&name, "$");
    if (absl::ConsumePrefix(&name, "{")) absl::ConsumeSuffix(&name, "}");
    std::string text(name);
    if (IsShellName(text)) {
      const std::vector<ShellWord> value = ValueOf(text, std::nullopt);
      if (value.size() != 1 || !value.front().known()) return {"", text};
      text = value.front().text;
    }
    int64_t number = 0;
    if (!absl::SimpleAtoi(text, &number) || number < 0 || number > kMostFactor ||
        product > int64_t{1} << 40) {
      return {"", "a calculation"};
    }
    product *= number;
  }
  return {absl::StrCat(product)};
}

bool ShellVariables::TooLong() const { return expanded_bytes_ > kMostExpandedBytes; }

bool ShellVariables::TooManyWords() const { return words_ > kMostWords; }

}  // namespace meshwright::planner

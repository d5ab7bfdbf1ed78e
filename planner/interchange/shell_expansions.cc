// How ShellWordReader expands what begins with $ or `.
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "base/text/string_view.h"
#include "planner/interchange/shell_words.h"

namespace meshwright::planner {
namespace {

constexpr char kOutput[] = "a command's output";

}  // namespace

std::vector<ShellWord> ShellWordReader::Expand() {
  if (text_[at_] == '`') return SkipUntil('`');
  ++at_;
  if (at_ >= text_.size()) return {{"$"}};
  const char c = text_[at_];
  if (text_.substr(at_, 2) == "((") return Arithmetic();
  if (c == '(') return SkipParentheses();
  if (c == '{') return Braced();
  if (c == '@' || c == '*') {
    ++at_;
    return variables_.arguments.value_or(std::vector<ShellWord>());
  }
  if (IsShellNameStart(c)) {
    const size_t start = at_;
    while (at_ < text_.size() && IsShellNameChar(text_[at_])) ++at_;
    return variables_.ValueOf(std::string(text_.substr(start, at_ - start)), std::nullopt);
  }
  ++at_;
  return {{"", std::string(1, c)}};
}

std::vector<ShellWord> ShellWordReader::SkipUntil(char end) {
  const size_t found = text_.find(end, at_ + 1);
  at_ = found == std::string_view::npos ? text_.size() : found + 1;
  return {{"", kOutput}};
}

std::vector<ShellWord> ShellWordReader::SkipParentheses() {
  int open = 0;
  for (; at_ < text_.size(); ++at_) {
    if (text_[at_] == '(') ++open;
    if (text_[at_] == ')' && --open == 0) {
      ++at_;
      break;
    }
  }
  return {{"", kOutput}};
}

std::vector<ShellWord> ShellWordReader::Arithmetic() {
  const size_t end = text_.find("))", at_);
  if (end == std::string_view::npos) return SkipParentheses();
  const std::string_view inside = text_.substr(at_ + 2, end - at_ - 2);
  at_ = end + 2;
  return {variables_.ProductOf(inside)};
}

std::vector<ShellWord> ShellWordReader::Braced() {
  size_t end = at_ + 1;
  for (int open = 1; end < text_.size(); ++end) {
    if (text_[end] == '{') ++open;
    if (text_[end] == '}' && --open == 0) break;
  }
  if (end >= text_.size()) {
    at_ = text_.size();
    return {{"", "a variable"}};
  }
  absl::string_view inside = AbslView(text_.substr(at_ + 1, end - at_ - 1));
  at_ = end + 1;
  if (!absl::ConsumeSuffix(&inside, "[@]")) absl::ConsumeSuffix(&inside, "[*]");
  size_t name_end = 0;
  while (name_end < inside.size() && IsShellNameChar(inside[name_end])) ++name_end;
  const std::string name(inside.substr(0, name_end));
  absl::string_view rest = inside.substr(name_end);
  if (rest.empty()) return variables_.ValueOf(name, std::nullopt);
  absl::ConsumePrefix(&rest, ":");
  if (!name.empty() && absl::StartsWith(rest, "?")) return variables_.ValueOf(name, std::nullopt);
  if (!name.empty() && absl::StartsWith(rest, "+")) {
    const std::vector<ShellWord> value = variables_.ValueOf(name, std::nullopt);
    const bool is_empty = value.size() == 1 && value.front().known() && value.front().text.empty();
    return is_empty ? std::vector<ShellWord>() : std::vector<ShellWord>{{"", name}};
  }
  if (name.empty() || (!absl::ConsumePrefix(&rest, "-") && !absl::ConsumePrefix(&rest, "="))) {
    return {{"", name.empty() ? "a variable" : name}};
  }
  if (absl::StrContains(rest, '$') || absl::StrContains(rest, '`')) {
    return variables_.ValueOf(name, std::nullopt);
  }
  if (rest.size() >= 2 && (rest[0] == '"' || rest[0] == '\'') && rest.back() == rest[0]) {
    rest = rest.substr(1, rest.size() - 2);
  }
  return variables_.ValueOf(name, std::string(rest));
}

}  // namespace meshwright::planner

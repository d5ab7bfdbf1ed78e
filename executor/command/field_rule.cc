#include "executor/command/field_rule.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text/field_error.h"

namespace meshwright::command {
namespace {

constexpr size_t kMaxValueBytes = 4096;

bool IsNumber(const FieldRule& rule) { return rule.from.has_value() || rule.to.has_value(); }

// Whether the text is a whole number as it would be printed: no sign of plus, no zeros before it.
bool IsPlainNumber(const std::string& text, int64_t& number) {
  return absl::SimpleAtoi(text, &number) && absl::StrCat(number) == text;
}

// Returns whether `path` is inside `folder`. Neither has links or dots.
bool IsBelow(const std::filesystem::path& folder, const std::filesystem::path& path) {
  const auto [end, rest] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return end == folder.end() && rest != path.end();
}

absl::StatusOr<std::string> PathBelow(std::string_view field, const FieldRule& rule,
                                      const std::string& value) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::canonical(rule.below, error);
  if (error) {
    return FieldError(field, value,
                      absl::StrCat("must be below ", rule.below, ", which does not exist"));
  }
  const std::filesystem::path path = std::filesystem::canonical(folder / value, error);
  if (error || !IsBelow(folder, path)) {
    return FieldError(field, value, absl::StrCat("must be ", AcceptedBy(rule)));
  }
  return path.string();
}

}  // namespace

absl::Status CheckRule(std::string_view path, const FieldRule& rule) {
  const int forms =
      (IsNumber(rule) ? 1 : 0) + (rule.words.empty() ? 0 : 1) + (rule.below.empty() ? 0 : 1);
  if (forms != 1) {
    return FieldError(path, absl::StrCat(forms, " rules"),
                      "must have either \"from\" and \"to\", or \"words\", or \"below\"");
  }
  if (IsNumber(rule) && (!rule.from || !rule.to || *rule.from > *rule.to || *rule.from < 0)) {
    return FieldError(path, AcceptedBy(rule),
                      "must have \"from\" and \"to\", with 0 <= from <= to");
  }
  for (const std::string& word : rule.words) {
    if (word.empty() || word[0] == '-') {
      return FieldError(absl::StrCat(std::string(path), ".words"), word,
                        "must not be empty or begin with '-', as a flag does");
    }
  }
  if (!rule.below.empty() && rule.below[0] != '/') {
    return FieldError(absl::StrCat(std::string(path), ".below"), rule.below,
                      "must be an absolute path");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> FieldValue(std::string_view field, const FieldRule& rule,
                                       const std::string& value) {
  // A zero byte would end the argument early.
  if (value.empty() || value[0] == '-' || value.size() > kMaxValueBytes ||
      value.find('\0') != std::string::npos) {
    return FieldError(field, value.substr(0, 80), absl::StrCat("must be ", AcceptedBy(rule)));
  }
  if (!rule.below.empty()) return PathBelow(field, rule, value);
  int64_t number = 0;
  const bool allowed =
      IsNumber(rule) ? IsPlainNumber(value, number) && number >= *rule.from && number <= *rule.to
                     : std::find(rule.words.begin(), rule.words.end(), value) != rule.words.end();
  if (!allowed) return FieldError(field, value, absl::StrCat("must be ", AcceptedBy(rule)));
  return value;
}

std::string AcceptedBy(const FieldRule& rule) {
  if (IsNumber(rule)) {
    return absl::StrCat("a whole number from ", rule.from.value_or(0), " to ", rule.to.value_or(0));
  }
  if (!rule.words.empty()) return absl::StrCat("one of ", absl::StrJoin(rule.words, ", "));
  return absl::StrCat("the path of something that exists below ", rule.below);
}

}  // namespace meshwright::command

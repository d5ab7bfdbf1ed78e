#include "planner/catalog/key_rule.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;

constexpr size_t kLongestValue = 40;

bool IsIn(const std::vector<json>& values, const json& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

std::string InWords(const std::vector<json>& values, const char* separator) {
  return absl::StrJoin(values, separator, [](std::string* out, const json& value) {
    absl::StrAppend(out, value.is_string() ? value.get<std::string>() : value.dump());
  });
}

}  // namespace

bool IsOff(const json& value) {
  if (value.is_null()) return true;
  if (value.is_boolean()) return !value.get<bool>();
  if (value.is_number()) return value.get<double>() == 0.0;
  if (!value.is_string()) return value.empty();
  const auto& text = value.get_ref<const std::string&>();
  return text.empty() || absl::EqualsIgnoreCase(text, "none");
}

std::string ShortenedName(std::string_view text) {
  size_t end = std::min(text.size(), kLongestValue);
  while (end < text.size() && end > 0 && (text[end] & 0xc0) == 0x80) --end;
  return std::string(text.substr(0, end));
}

std::string ShownValue(const json& value) {
  if (value.is_structured()) return "";
  return ShortenedName(value.is_string() ? value.get<std::string>() : value.dump());
}

bool KeyRule::Allows(const json& config, const json& value) const {
  if (value.is_boolean() && !one_of.empty()) return IsIn(one_of, value);
  if (IsOff(value)) return true;
  if (is_scalar) return !value.is_structured();
  if (at_most) return value.is_number() && value.get<double>() <= *at_most;
  if (!items.empty()) {
    return value.is_array() && std::all_of(value.begin(), value.end(),
                                           [&](const json& item) { return IsIn(items, item); });
  }
  if (!same_as.empty()) {
    const auto other = config.find(same_as);
    return other != config.end() && *other == value;
  }
  return IsIn(one_of, value);
}

std::string KeyRule::BrokenKey(const json& config) const {
  for (const std::string& key : keys) {
    const auto value = config.find(key);
    if (value != config.end() && !Allows(config, *value)) return key;
  }
  return "";
}

std::string KeyRule::Accepted() const {
  if (is_scalar) return "must be one number";
  if (at_most) return absl::StrCat("must be at most ", *at_most);
  if (!items.empty()) return absl::StrCat("must hold nothing but ", InWords(items, ", "));
  if (!same_as.empty()) return "must be that of " + same_as;
  if (one_of.empty()) return "must be absent or null";
  return "must be " + InWords(one_of, " or ");
}

KeyRule ReadKeyRule(const json& rule) {
  KeyRule read{.keys = rule.at("keys"),
               .is_scalar = rule.value("scalar", false),
               .at_most = std::nullopt,
               .items = rule.value("items", std::vector<json>()),
               .same_as = rule.value("same_as", std::string()),
               .one_of = rule.value("one_of", std::vector<json>())};
  if (rule.contains("at_most")) read.at_most = rule.at("at_most").get<double>();
  return read;
}

}  // namespace meshwright::planner

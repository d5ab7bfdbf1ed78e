#include "planner/codec/json_fields.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/json_text.h"
#include "base/text/nearest.h"
#include "base/text/status_macros.h"

namespace meshwright::planner {

using nlohmann::json;

absl::StatusOr<json> ParseJsonObject(std::string_view what, std::string_view text) {
  ASSIGN_OR_RETURN(json parsed, ParseJson(what, text, kMaxSpecBytes));
  if (!parsed.is_object()) return FieldError(what, ShowJson(parsed), "must be a JSON object");
  return parsed;
}

const json* JsonFields::Find(std::string_view key) const {
  asked_.emplace(key);
  const auto it = object_.find(std::string(key));
  return it == object_.end() || it->is_null() ? nullptr : &*it;
}

const json* JsonFields::Require(std::string_view key) {
  const json* value = Find(key);
  if (value == nullptr) {
    Fail(FieldError(prefix_ + std::string(key), "(absent)", "this key is needed"));
  }
  return value;
}

std::vector<std::string> JsonFields::UnaskedKeys() const {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object_.items()) {
    if (!asked_.contains(key)) keys.push_back(key);
  }
  return keys;
}

void JsonFields::RefuseUnknownKeys() {
  for (const std::string& key : UnaskedKeys()) {
    const std::vector<std::string> known(asked_.begin(), asked_.end());
    Fail(FieldError(prefix_ + key, ShowJson(object_.at(key)),
                    std::string(UnknownName("key", key, known).message())));
  }
}

void JsonFields::Fail(absl::Status status) {
  if (status_.ok()) status_ = std::move(status);
}

void JsonFields::WrongType(std::string_view key, const json& value, std::string_view expected) {
  Fail(FieldError(prefix_ + std::string(key), ShowJson(value), "must be " + std::string(expected)));
}

std::optional<int64_t> JsonFields::OptionalInt(std::string_view key) {
  const json* value = Find(key);
  if (value == nullptr) return std::nullopt;
  const bool too_large =
      value->is_number_unsigned() &&
      value->get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (!value->is_number_integer() || too_large) {
    WrongType(key, *value, "a whole number");
    return std::nullopt;
  }
  return value->get<int64_t>();
}

int64_t JsonFields::Int(std::string_view key) {
  return Require(key) == nullptr ? 0 : OptionalInt(key).value_or(0);
}

std::optional<double> JsonFields::OptionalNumber(std::string_view key) {
  const json* value = Find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number()) {
    WrongType(key, *value, "a number");
    return std::nullopt;
  }
  return value->get<double>();
}

double JsonFields::Number(std::string_view key) {
  return Require(key) == nullptr ? 0.0 : OptionalNumber(key).value_or(0.0);
}

bool JsonFields::BoolOr(std::string_view key, bool fallback) {
  const json* value = Find(key);
  if (value == nullptr) return fallback;
  if (!value->is_boolean()) {
    WrongType(key, *value, "true or false");
    return fallback;
  }
  return value->get<bool>();
}

std::string JsonFields::String(std::string_view key) {
  return Require(key) == nullptr ? std::string() : StringOr(key, "");
}

std::string JsonFields::StringOr(std::string_view key, std::string_view fallback) {
  const json* value = Find(key);
  if (value == nullptr) return std::string(fallback);
  if (!value->is_string()) {
    WrongType(key, *value, "a text");
    return std::string(fallback);
  }
  return value->get<std::string>();
}

std::vector<std::string> JsonFields::StringsOr(std::string_view key) {
  const json* value = Find(key);
  std::vector<std::string> texts;
  if (value == nullptr) return texts;
  const bool list = value->is_array() && std::all_of(value->begin(), value->end(),
                                                     [](const json& v) { return v.is_string(); });
  if (!list) {
    WrongType(key, *value, "a list of texts");
    return texts;
  }
  for (const json& text : *value) texts.push_back(text);
  return texts;
}

const json* JsonFields::OptionalArray(std::string_view key) {
  const json* value = Find(key);
  if (value == nullptr || value->is_array()) return value;
  WrongType(key, *value, "a list");
  return nullptr;
}

const json& JsonFields::Object(std::string_view key) {
  static const json* const kEmpty = new json(json::object());
  const json* value = Require(key);
  if (value == nullptr) return *kEmpty;
  if (!value->is_object()) {
    WrongType(key, *value, "an object");
    return *kEmpty;
  }
  return *value;
}

}  // namespace meshwright::planner

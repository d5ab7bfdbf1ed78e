#include "planner/layout/layout_condition.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "planner/layout/condition_parser.h"
#include "planner/layout/keys.h"

namespace meshwright::planner {
namespace {

constexpr std::string_view kNoText = "none";

absl::StatusOr<std::string> ReadKeyText(std::string_view field, std::string_view text) {
  if (text == kNoText) return std::string(kNoText);
  const LayoutKey& key = *FindKey(field);
  Layout layout;
  RETURN_IF_ERROR(ReadValue(key, text, layout));
  return ConditionText(key, layout);
}

ConditionField FieldOfKey(const LayoutKey& key) {
  ConditionField field = {.name = key.name};
  if (!key.also.empty()) field.also = {key.also};
  if (key.kind == KeyKind::kWord) {
    field.type = ValueType::kWord;
    field.words.assign(key.words.begin(), key.words.end());
  } else if (key.kind == KeyKind::kText) {
    field.type = ValueType::kText;
    field.read = ReadKeyText;
    field.accepts = absl::StrCat(AbslView(kNoText), " or ", AbslView(key.accepts));
  }
  return field;
}

// A layout that has the value and else every default.
Layout WithText(const LayoutKey& key, const std::string& text) {
  Layout layout;
  if (text != kNoText) ReadValue(key, text, layout).IgnoreError();  // it was read before
  return layout;
}

}  // namespace

const ConditionFields& LayoutFields() {
  static const auto* const kFields = [] {
    auto* fields = new ConditionFields();
    for (const LayoutKey& key : kLayoutKeys) fields->push_back(FieldOfKey(key));
    return fields;
  }();
  return *kFields;
}

absl::StatusOr<Condition> ParseLayoutCondition(std::string_view name, std::string_view text) {
  return ParseCondition(name, text, LayoutFields());
}

absl::StatusOr<Condition> ParseFixed(std::string_view name, std::string_view text) {
  return ParseValues(name, text, LayoutFields());
}

std::string FormatLayoutCondition(const Condition& condition) {
  return FormatCondition(condition, LayoutFields());
}

ConditionValue ConditionValueOf(size_t field, const Layout& layout) {
  const LayoutKey& key = kLayoutKeys[field];
  if (key.kind == KeyKind::kText) return ConditionText(key, layout);
  return key.number(layout);
}

LayoutMatcher::LayoutMatcher(const Condition& condition)
    : form_(condition.form), comparison_(condition.comparison), key_(condition.field) {
  for (const Condition& part : condition.parts) parts_.emplace_back(part);
  for (const ConditionValue& value : condition.values) {
    if (const auto* text = std::get_if<std::string>(&value)) {
      is_text_ = true;
      texts_.push_back(WithText(kLayoutKeys[key_], *text));
    } else {
      numbers_.push_back(std::get<int64_t>(value));
      number_ = numbers_.front();
    }
  }
}

bool LayoutMatcher::HasOneOf(const Layout& layout) const {
  const LayoutKey& key = kLayoutKeys[key_];
  return std::any_of(texts_.begin(), texts_.end(),
                     [&](const Layout& text) { return key.same(layout, text); });
}

bool LayoutMatcher::Compare(const Layout& layout) const {
  if (is_text_) return HasOneOf(layout) != (comparison_ == Comparison::kNotEqual);
  const int64_t number = NumberOf(key_, layout);
  switch (comparison_) {
    case Comparison::kEqual:
      return number == number_;
    case Comparison::kNotEqual:
      return number != number_;
    case Comparison::kLess:
      return number < number_;
    case Comparison::kAtMost:
      return number <= number_;
    case Comparison::kMore:
      return number > number_;
    case Comparison::kAtLeast:
      return number >= number_;
    case Comparison::kIn:
      return std::find(numbers_.begin(), numbers_.end(), number) != numbers_.end();
  }
  return false;
}

bool LayoutMatcher::Matches(const Layout& layout) const {
  const auto matches = [&layout](const LayoutMatcher& part) { return part.Matches(layout); };
  switch (form_) {
    case ConditionForm::kAll:
      return std::all_of(parts_.begin(), parts_.end(), matches);
    case ConditionForm::kAny:
      return std::any_of(parts_.begin(), parts_.end(), matches);
    case ConditionForm::kNot:
      return !parts_.front().Matches(layout);
    case ConditionForm::kCompare:
      return Compare(layout);
  }
  return false;
}

}  // namespace meshwright::planner

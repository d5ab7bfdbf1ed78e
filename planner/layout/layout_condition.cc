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

// Returns a layout that has the value and otherwise every default.
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
    : form_(condition.form), key_(condition.field) {
  if (form_ == ConditionForm::kNot) {
    *this = LayoutMatcher(condition.parts.front());
    negated_ = !negated_;
    return;
  }
  for (const Condition& part : condition.parts) parts_.emplace_back(part);
  if (form_ != ConditionForm::kCompare) return;
  negated_ = condition.comparison == Comparison::kNotEqual;
  is_text_ = std::holds_alternative<std::string>(condition.values.front());
  if (is_text_) {
    for (const ConditionValue& value : condition.values) {
      texts_.push_back(WithText(kLayoutKeys[key_], std::get<std::string>(value)));
    }
  } else {
    TakeNumbers(condition);
  }
}

void LayoutMatcher::TakeNumbers(const Condition& condition) {
  number_of_ = kLayoutKeys[key_].number;
  const int64_t number = std::get<int64_t>(condition.values.front());
  switch (condition.comparison) {
    case Comparison::kEqual:
    case Comparison::kNotEqual:
      low_ = high_ = number;
      break;
    case Comparison::kLess:
      high_ = number - 1;
      break;
    case Comparison::kAtMost:
      high_ = number;
      break;
    case Comparison::kMore:
      low_ = number + 1;
      break;
    case Comparison::kAtLeast:
      low_ = number;
      break;
    case Comparison::kIn:
      for (const ConditionValue& value : condition.values) {
        numbers_.push_back(std::get<int64_t>(value));
      }
  }
}

bool LayoutMatcher::HasValue(const Layout& layout) const {
  if (is_text_) {
    const LayoutKey& key = kLayoutKeys[key_];
    return std::any_of(texts_.begin(), texts_.end(),
                       [&](const Layout& text) { return key.same(layout, text); });
  }
  const int64_t number = number_of_(layout);
  if (!numbers_.empty()) {
    return std::find(numbers_.begin(), numbers_.end(), number) != numbers_.end();
  }
  return number >= low_ && number <= high_;
}

bool LayoutMatcher::MatchesParts(const Layout& layout) const {
  const bool all = form_ == ConditionForm::kAll;
  for (const LayoutMatcher& part : parts_) {
    if (part.Matches(layout) != all) return !all;
  }
  return all;
}

}  // namespace meshwright::planner

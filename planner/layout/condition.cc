#include "planner/layout/condition.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "planner/layout/condition_parser.h"

namespace meshwright::planner {
namespace {

std::string_view SignOf(Comparison comparison) {
  constexpr std::array<std::string_view, 7> kSigns = {"=", "!=", "<", "<=", ">", ">=", "in"};
  return kSigns[static_cast<size_t>(comparison)];
}

std::string FormatValue(const ConditionField& field, const ConditionValue& value) {
  if (const auto* whole = std::get_if<int64_t>(&value)) {
    return field.type == ValueType::kWord ? std::string(field.words[static_cast<size_t>(*whole)])
                                          : absl::StrCat(*whole);
  }
  if (const auto* real = std::get_if<double>(&value)) return absl::StrCat(*real);
  const std::string& text = std::get<std::string>(value);
  const bool stands_alone = !text.empty() && std::all_of(text.begin(), text.end(), IsConditionText);
  return stands_alone ? text : absl::StrCat("\"", text, "\"");
}

std::string FormatComparison(const Condition& condition, const ConditionFields& fields) {
  const ConditionField& field = fields[condition.field];
  std::string text(field.name);
  text.append(" ").append(SignOf(condition.comparison)).append(" ");
  if (condition.comparison != Comparison::kIn) {
    return text + FormatValue(field, condition.values.front());
  }
  const char* separator = "(";
  for (const ConditionValue& value : condition.values) {
    text.append(separator).append(FormatValue(field, value));
    separator = ", ";
  }
  return text + ")";
}

// A part of a larger condition of the form `whole`. In parentheses only where it needs them: what
// is read at the deepest level can be read again.
std::string FormatPart(const Condition& part, ConditionForm whole, const ConditionFields& fields) {
  const bool joins = part.form == ConditionForm::kAll || part.form == ConditionForm::kAny;
  const bool binds_closer = part.form == ConditionForm::kAll && whole == ConditionForm::kAny;
  const std::string text = FormatCondition(part, fields);
  return joins && !binds_closer ? "(" + text + ")" : text;
}

}  // namespace

std::string FormatCondition(const Condition& condition, const ConditionFields& fields) {
  if (condition.form == ConditionForm::kCompare) return FormatComparison(condition, fields);
  if (condition.form == ConditionForm::kNot) {
    return "not " + FormatPart(condition.parts.front(), condition.form, fields);
  }
  const std::string_view join = condition.form == ConditionForm::kAll ? " and " : " or ";
  std::string text;
  for (const Condition& part : condition.parts) {
    if (!text.empty()) text.append(join);
    text.append(FormatPart(part, condition.form, fields));
  }
  return text;
}

}  // namespace meshwright::planner

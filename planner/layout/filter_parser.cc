#include "planner/layout/filter_parser.h"

#include <utility>

#include "base/text/status_macros.h"

namespace meshwright::planner {
namespace {

ConditionFields MakeFields() {
  ConditionFields fields;
  for (size_t i = 0; i < kFilterFieldNames.size(); ++i) {
    const auto field = static_cast<FilterField>(i);
    ConditionField& made = fields.emplace_back(ConditionField{.name = FilterFieldName(field)});
    made.words = FilterWords(field);
    if (!made.words.empty()) made.kind = ConditionField::Kind::kWord;
    if (field == FilterField::kSchedule) made.also = {"schedule"};
  }
  return fields;
}

Filter ToFilter(const Condition& condition) {
  Filter filter = {.kind = static_cast<Filter::Kind>(condition.kind)};
  for (const Condition& part : condition.parts) filter.parts.push_back(ToFilter(part));
  if (condition.kind != Condition::Kind::kCompare) return filter;
  filter.field = static_cast<FilterField>(condition.field);
  filter.comparison = condition.comparison;
  for (const ConditionValue& value : condition.values) {
    filter.values.push_back(std::get<int64_t>(value));
  }
  return filter;
}

}  // namespace

const ConditionFields& LayoutFields() {
  static const auto* const kFields = new ConditionFields(MakeFields());
  return *kFields;
}

absl::StatusOr<Filter> ParseFilter(std::string_view name, std::string_view text) {
  ASSIGN_OR_RETURN(const Condition condition, ParseCondition(name, text, LayoutFields()));
  return ToFilter(condition);
}

absl::StatusOr<Filter> ParseFixed(std::string_view name, std::string_view text) {
  ASSIGN_OR_RETURN(const Condition condition, ParseValues(name, text, LayoutFields()));
  return ToFilter(condition);
}

}  // namespace meshwright::planner

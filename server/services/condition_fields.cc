#include "server/services/condition_fields.h"

#include <string>
#include <string_view>

#include "base/text/enum_names.h"
#include "db/measurement.h"
#include "planner/layout/condition.h"
#include "planner/layout/keys.h"
#include "planner/layout/layout_condition.h"

namespace meshwright::server {
namespace {

constexpr EnumNames<planner::ValueType, 4> kValueTypeNames = {{
    {planner::ValueType::kWhole, "whole"},
    {planner::ValueType::kReal, "real"},
    {planner::ValueType::kWord, "word"},
    {planner::ValueType::kText, "text"},
}};

v1::ConditionField Described(const planner::ConditionField& field) {
  v1::ConditionField described;
  described.set_name(std::string(field.name));
  for (const std::string_view name : field.also) described.add_other_names(std::string(name));
  described.set_kind(std::string(NameOf(kValueTypeNames, field.type)));
  for (const std::string_view word : field.words) described.add_words(std::string(word));
  described.set_accepts(field.accepts);
  for (const planner::LayoutKey& key : planner::kLayoutKeys) {
    if (key.name == field.name) described.set_help(std::string(key.help));
  }
  return described;
}

}  // namespace

v1::DescribeConditionsResponse AllConditionFields() {
  v1::DescribeConditionsResponse response;
  for (const planner::ConditionField& field : planner::LayoutFields()) {
    *response.add_layout() = Described(field);
  }
  for (const planner::ConditionField& field : db::MeasurementFields()) {
    *response.add_measurements() = Described(field);
  }
  return response;
}

}  // namespace meshwright::server

#include "db/measurement.h"

#include <algorithm>
#include <array>

#include "base/text/status_macros.h"
#include "planner/layout/condition_parser.h"
#include "planner/layout/keys.h"
#include "planner/layout/layout.h"
#include "planner/layout/layout_condition.h"
#include "planner/spec/option_choice.h"

namespace meshwright::db {
namespace {

using planner::ConditionField;
using planner::ValueType;

template <size_t kCount, typename Enum>
std::vector<std::string_view> ListNames(const EnumNames<Enum, kCount>& names) {
  std::vector<std::string_view> listed;
  for (const auto& [value, name] : names) listed.push_back(name);
  return listed;
}

std::vector<std::string_view> FinalStates() {
  std::vector<std::string_view> names;
  for (const auto& [state, name] : kTrialStateNames) {
    if (HasEnded(state)) names.push_back(name);
  }
  return names;
}

// The keys for which table `measurements` and its covering indexes have a column (schema 5). The
// values of other keys are in table `layouts` alone.
constexpr std::array<std::string_view, 13> kIndexedKeys = {
    "tp", "cp", "pp", "dp", "ep", "etp", "mb", "vpp", "zero", "sp", "hs", "rc", "sched"};

bool IsIndexed(std::string_view key) {
  return std::find(kIndexedKeys.begin(), kIndexedKeys.end(), key) != kIndexedKeys.end();
}

absl::StatusOr<std::string> ReadOptionText(std::string_view field, std::string_view text) {
  planner::TrainingSpec training;
  RETURN_IF_ERROR(planner::SetOption(field, field, text, training));
  return planner::OptionText(field, training);
}

struct Described {
  ConditionField field;
  MeasurementColumn column;
};

std::vector<Described> Describe() {
  const auto setting = [](std::string_view name) {
    return MeasurementColumn{.name = name, .facet = MeasurementFacet::kSettings};
  };
  const auto origin = [](std::string_view name) {
    return MeasurementColumn{.name = name, .facet = MeasurementFacet::kOrigin};
  };
  std::vector<Described> all;
  for (const ConditionField& key : planner::LayoutFields()) {
    all.push_back({key,
                   {.name = key.name,
                    .may_be_null = true,
                    .facet = MeasurementFacet::kLayout,
                    .in_facet_alone = !IsIndexed(key.name)}});
  }
  all.push_back(
      {{.name = "outcome", .type = ValueType::kWord, .words = FinalStates()}, origin("outcome")});
  all.push_back({{.name = "mfu", .type = ValueType::kReal}, {.name = "mfu", .may_be_null = true}});
  all.push_back({{.name = "step_s", .type = ValueType::kReal, .also = {"step_time_s"}},
                 {.name = "step_s", .may_be_null = true}});
  all.push_back({{.name = "peak_bytes"}, {.name = "peak_bytes", .may_be_null = true}});
  all.push_back({{.name = "model", .type = ValueType::kText}, setting("model")});
  all.push_back({{.name = "cluster", .type = ValueType::kText}, setting("cluster")});
  all.push_back({{.name = "gpus", .also = {"devices"}}, setting("devices")});
  all.push_back({{.name = "seq_len"}, setting("seq_len")});
  all.push_back({{.name = "global_batch"}, setting("global_batch")});
  all.push_back({{.name = "dtype", .type = ValueType::kText}, setting("precision")});
  for (const std::string_view option : planner::OptionNames()) {
    all.push_back({{.name = option,
                    .type = ValueType::kText,
                    .read = ReadOptionText,
                    .accepts = planner::OptionTakes(option)},
                   {.name = option, .facet = MeasurementFacet::kOptions, .in_facet_alone = true}});
  }
  all.push_back(
      {{.name = "source", .type = ValueType::kWord, .words = ListNames(kMeasurementSourceNames)},
       origin("source")});
  all.push_back({{.name = "worker_version", .type = ValueType::kText}, origin("worker_version")});
  return all;
}

}  // namespace

const planner::ConditionFields& MeasurementFields() {
  static const auto* const kFields = [] {
    auto* fields = new planner::ConditionFields();
    for (Described& described : Describe()) fields->push_back(std::move(described.field));
    return fields;
  }();
  return *kFields;
}

const std::vector<MeasurementColumn>& MeasurementColumns() {
  static const auto* const kColumns = [] {
    auto* columns = new std::vector<MeasurementColumn>();
    for (const Described& described : Describe()) columns->push_back(described.column);
    return columns;
  }();
  return *kColumns;
}

absl::StatusOr<planner::Condition> ParseMeasurementCondition(std::string_view name,
                                                             std::string_view text) {
  return planner::ParseCondition(name, text, MeasurementFields());
}

KeyValue ValueOfKey(size_t key, const planner::Layout& layout) {
  const planner::LayoutKey& row = planner::kLayoutKeys[key];
  const bool is_number =
      row.kind == planner::KeyKind::kCount || row.kind == planner::KeyKind::kSwitch;
  if (is_number) return row.number(layout);
  return planner::ConditionText(row, layout);
}

std::vector<KeyValue> KeyValues(std::string_view layout_text) {
  std::vector<KeyValue> values(planner::kLayoutKeyCount);
  const absl::StatusOr<planner::Layout> layout = planner::ParseLayout(layout_text);
  if (!layout.ok()) return values;
  for (size_t key = 0; key < values.size(); ++key) values[key] = ValueOfKey(key, *layout);
  return values;
}

bool ComesBefore(MeasurementOrder order, const MeasurementPlace& a, const MeasurementPlace& b) {
  if (a.figure.has_value() != b.figure.has_value()) return a.figure.has_value();
  if (a.figure == b.figure) return a.id < b.id;
  return order == MeasurementOrder::kMfu ? *a.figure > *b.figure : *a.figure < *b.figure;
}

}  // namespace meshwright::db

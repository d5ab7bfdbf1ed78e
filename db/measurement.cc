#include "db/measurement.h"

#include "planner/layout/condition_parser.h"
#include "planner/layout/filter_match.h"
#include "planner/layout/filter_parser.h"
#include "planner/layout/layout.h"

namespace meshwright::db {
namespace {

using planner::ConditionField;
using Kind = ConditionField::Kind;

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

struct Described {
  ConditionField field;
  MeasurementColumn column;
};

std::vector<Described> Describe() {
  const auto setting = [](std::string_view name) {
    return MeasurementColumn{name, /*may_be_null=*/false, MeasurementFacet::kSettings};
  };
  const auto origin = [](std::string_view name) {
    return MeasurementColumn{name, /*may_be_null=*/false, MeasurementFacet::kOrigin};
  };
  std::vector<Described> all;
  for (const ConditionField& axis : planner::LayoutFields()) {
    all.push_back({axis, {axis.name, /*may_be_null=*/true, MeasurementFacet::kLayout}});
  }
  all.push_back(
      {{.name = "outcome", .kind = Kind::kWord, .words = FinalStates()}, origin("outcome")});
  all.push_back({{.name = "mfu", .kind = Kind::kReal}, {"mfu", true}});
  all.push_back(
      {{.name = "step_s", .kind = Kind::kReal, .also = {"step_time_s"}}, {"step_s", true}});
  all.push_back({{.name = "peak_bytes"}, {"peak_bytes", true}});
  all.push_back({{.name = "model", .kind = Kind::kText}, setting("model")});
  all.push_back({{.name = "cluster", .kind = Kind::kText}, setting("cluster")});
  all.push_back({{.name = "gpus", .also = {"devices"}}, setting("devices")});
  all.push_back({{.name = "seq_len"}, setting("seq_len")});
  all.push_back({{.name = "global_batch"}, setting("global_batch")});
  all.push_back({{.name = "dtype", .kind = Kind::kText}, setting("precision")});
  all.push_back(
      {{.name = "source", .kind = Kind::kWord, .words = ListNames(kMeasurementSourceNames)},
       origin("source")});
  all.push_back({{.name = "worker_version", .kind = Kind::kText}, origin("worker_version")});
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

std::vector<AxisValue> AxisValues(std::string_view layout_text) {
  const planner::ConditionFields& fields = planner::LayoutFields();
  std::vector<AxisValue> values(fields.size());
  const absl::StatusOr<planner::Layout> layout = planner::ParseLayout(layout_text);
  if (!layout.ok()) return values;
  for (size_t i = 0; i < fields.size(); ++i) {
    const int64_t value = FilterValueOf(static_cast<planner::FilterField>(i), *layout);
    if (fields[i].words.empty()) {
      values[i] = value;
    } else {
      values[i] = fields[i].words[static_cast<size_t>(value)];
    }
  }
  return values;
}

bool ComesBefore(MeasurementOrder order, const MeasurementPlace& a, const MeasurementPlace& b) {
  if (a.figure.has_value() != b.figure.has_value()) return a.figure.has_value();
  if (a.figure == b.figure) return a.id < b.id;
  return order == MeasurementOrder::kMfu ? *a.figure > *b.figure : *a.figure < *b.figure;
}

}  // namespace meshwright::db

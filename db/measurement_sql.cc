#include "db/measurement_sql.h"

#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/text/string_view.h"
#include "db/added_columns.h"
#include "db/measurement.h"
#include "planner/layout/keys.h"

namespace meshwright::db {
namespace {

using planner::KeyKind;
using planner::kLayoutKeys;
using planner::LayoutKey;

absl::string_view TypeOf(const LayoutKey& key) {
  return key.kind == KeyKind::kCount || key.kind == KeyKind::kSwitch ? "INTEGER" : "TEXT";
}

}  // namespace

std::string LayoutColumns() {
  std::string columns;
  for (const LayoutKey& key : kLayoutKeys) absl::StrAppend(&columns, ", ", AbslView(key.name));
  return columns;
}

std::string LayoutParameters() {
  std::string parameters;
  for (size_t i = 0; i < kLayoutKeys.size(); ++i) parameters += ", ?";
  return parameters;
}

void BindKeys(std::string_view layout, SqliteStatement& insert) {
  for (const KeyValue& value : KeyValues(layout)) {
    if (const auto* whole = std::get_if<int64_t>(&value)) {
      insert.Bind(*whole);
    } else if (const auto* text = std::get_if<std::string>(&value)) {
      insert.Bind(std::string_view(*text));
    } else {
      insert.BindNull();
    }
  }
}

std::string MeasurementKeyColumns(absl::string_view table) {
  std::string columns;
  for (const MeasurementColumn& column : MeasurementColumns()) {
    if (column.facet != MeasurementFacet::kLayout || column.in_facet_alone) continue;
    absl::StrAppend(&columns, ", ", table, AbslView(column.name));
  }
  return columns;
}

absl::Status AddKeyColumns(SqliteConnection* connection) {
  std::vector<AddedColumn> columns;
  for (const MeasurementColumn& column : MeasurementColumns()) {
    if (column.facet != MeasurementFacet::kLayout || !column.in_facet_alone) continue;
    const absl::string_view name = AbslView(column.name);
    columns.push_back({.name = std::string(column.name),
                       .type = TypeOf(*planner::FindKey(column.name)),
                       .value = absl::StrCat("layout_value(layout, '", name, "')")});
  }
  // A layout whose text can't be read has no tp either.
  return AddColumns(connection, "layouts", columns, "tp IS NOT NULL");
}

}  // namespace meshwright::db

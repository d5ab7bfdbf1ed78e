#include "db/measurement_sql.h"

#include <algorithm>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "db/measurement.h"
#include "planner/layout/keys.h"

namespace meshwright::db {
namespace {

using planner::KeyKind;
using planner::kLayoutKeys;
using planner::LayoutKey;

absl::StatusOr<std::vector<std::string>> ColumnsOfLayouts(SqliteConnection* connection) {
  ASSIGN_OR_RETURN(SqliteStatement select,
                   connection->Prepare("SELECT name FROM pragma_table_info('layouts')"));
  std::vector<std::string> columns;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, select.Step());
    if (!row) return columns;
    columns.emplace_back(select.Text(0));
  }
}

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
  ASSIGN_OR_RETURN(SqliteTransaction transaction, SqliteTransaction::Begin(connection));
  ASSIGN_OR_RETURN(const std::vector<std::string> columns, ColumnsOfLayouts(connection));
  std::string values;
  std::string unknown;
  for (const MeasurementColumn& column : MeasurementColumns()) {
    if (!column.in_facet_alone) continue;
    const absl::string_view name = AbslView(column.name);
    if (std::find(columns.begin(), columns.end(), column.name) == columns.end()) {
      RETURN_IF_ERROR(connection->Execute(absl::StrCat("ALTER TABLE layouts ADD COLUMN ", name, " ",
                                                       TypeOf(*planner::FindKey(column.name)))));
    }
    absl::StrAppend(&values, values.empty() ? "" : ", ", name, " = layout_value(layout, '", name,
                    "')");
    absl::StrAppend(&unknown, unknown.empty() ? "" : " OR ", name, " IS NULL");
  }
  // A layout whose text can't be read has no tp either.
  RETURN_IF_ERROR(connection->Execute(
      absl::StrCat("UPDATE layouts SET ", values, " WHERE tp IS NOT NULL AND (", unknown, ")")));
  return transaction.Commit();
}

}  // namespace meshwright::db

#include "db/measurement_sql.h"

#include <variant>

#include "absl/strings/str_cat.h"
#include "base/text/string_view.h"
#include "db/measurement.h"
#include "planner/layout/filter_parser.h"

namespace meshwright::db {

std::string AxisColumns(absl::string_view table) {
  std::string columns;
  for (const planner::ConditionField& axis : planner::LayoutFields()) {
    absl::StrAppend(&columns, ", ", table, AbslView(axis.name));
  }
  return columns;
}

std::string AxisParameters() {
  std::string parameters;
  for (size_t i = 0; i < planner::LayoutFields().size(); ++i) parameters += ", ?";
  return parameters;
}

void BindAxes(std::string_view layout, SqliteStatement& insert) {
  for (const AxisValue& value : AxisValues(layout)) {
    if (const auto* whole = std::get_if<int64_t>(&value)) {
      insert.Bind(*whole);
    } else if (const auto* word = std::get_if<std::string_view>(&value)) {
      insert.Bind(*word);
    } else {
      insert.BindNull();
    }
  }
}

}  // namespace meshwright::db

#include "db/sql_functions.h"

#include <sqlite3.h>

#include <string>
#include <string_view>

#include "db/token.h"
#include "nlohmann/json.hpp"
#include "planner/base/status_macros.h"
#include "planner/codec/json_text.h"
#include "planner/layout/filter_match.h"
#include "planner/layout/filter_parser.h"
#include "planner/layout/layout.h"

namespace meshwright::db {
namespace {

constexpr size_t kShapeHashDigits = 32;  // 128 bits

std::string_view TextOf(sqlite3_value* value) {
  const unsigned char* text = sqlite3_value_text(value);
  if (text == nullptr) return {};
  return {reinterpret_cast<const char*>(text), static_cast<size_t>(sqlite3_value_bytes(value))};
}

void ReturnText(sqlite3_context* context, std::string_view text) {
  sqlite3_result_text64(context, text.data() == nullptr ? "" : text.data(), text.size(),
                        SQLITE_TRANSIENT, SQLITE_UTF8);
}

void LayoutValue(sqlite3_context* context, int, sqlite3_value** arguments) {
  const absl::StatusOr<planner::Layout> layout = planner::ParseLayout(TextOf(arguments[0]));
  if (!layout.ok()) return sqlite3_result_null(context);
  const std::string_view name = TextOf(arguments[1]);
  const planner::ConditionFields& fields = planner::LayoutFields();
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].name != name) continue;
    const int64_t value = FilterValueOf(static_cast<planner::FilterField>(i), *layout);
    if (fields[i].words.empty()) return sqlite3_result_int64(context, value);
    return ReturnText(context, fields[i].words[static_cast<size_t>(value)]);
  }
  sqlite3_result_error(context, "layout_value: no such axis", -1);
}

void ShapeHash(sqlite3_context* context, int, sqlite3_value** arguments) {
  absl::StatusOr<nlohmann::json> json =
      planner::ParseJson("plan", std::string(TextOf(arguments[0])));
  const std::string key(TextOf(arguments[1]));
  if (!json.ok() || !json->is_object() || !json->contains(key) || !(*json)[key].is_object()) {
    return ReturnText(context, "");
  }
  nlohmann::json& shape = (*json)[key];
  shape.erase("name");
  // Keys are in the order of their names, whatever the text's order was.
  ReturnText(context, HashOf(shape.dump()).substr(0, kShapeHashDigits));
}

}  // namespace

absl::Status AddSqlFunctions(SqliteConnection* connection) {
  RETURN_IF_ERROR(connection->AddFunction("layout_value", 2, LayoutValue));
  return connection->AddFunction("shape_hash", 2, ShapeHash);
}

}  // namespace meshwright::db

#include "db/sql_functions.h"

#include <sqlite3.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/text/status_macros.h"
#include "db/measurement.h"
#include "db/shapes.h"
#include "db/training_options.h"
#include "planner/layout/keys.h"
#include "planner/spec/option_choice.h"

namespace meshwright::db {
namespace {

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
  const planner::LayoutKey* const key = planner::FindKey(TextOf(arguments[1]));
  if (key == nullptr) return sqlite3_result_error(context, "layout_value: no such key", -1);
  const KeyValue value = KeyValues(TextOf(arguments[0]))[planner::IndexOf(*key)];
  if (const auto* number = std::get_if<int64_t>(&value)) {
    return sqlite3_result_int64(context, *number);
  }
  if (const auto* text = std::get_if<std::string>(&value)) return ReturnText(context, *text);
  sqlite3_result_null(context);
}

void OptionValue(sqlite3_context* context, int, sqlite3_value** arguments) {
  const std::string_view name = TextOf(arguments[1]);
  const std::vector<std::string_view>& names = planner::OptionNames();
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    return sqlite3_result_error(context, "option_value: no such option", -1);
  }
  ReturnText(context, OptionOfTraining(TextOf(arguments[0]), name));
}

// Computes the hash of the plan's object under a key.
void ShapeHashOfPlan(sqlite3_context* context, int, sqlite3_value** arguments) {
  const PlanParts parts = SplitPlan(std::string(TextOf(arguments[0])), "");
  ReturnText(context, ShapeHash(TextOf(arguments[1]) == "model" ? parts.model : parts.training));
}

void ShapeHashOfText(sqlite3_context* context, int, sqlite3_value** arguments) {
  ReturnText(context, ShapeHash(TextOf(arguments[0])));
}

void Shape(sqlite3_context* context, int, sqlite3_value** arguments) {
  ReturnText(context, ShapeOf(TextOf(arguments[0])));
}

template <std::string PlanParts::*kPart>
void PlanPart(sqlite3_context* context, int, sqlite3_value** arguments) {
  const PlanParts parts = SplitPlan(std::string(TextOf(arguments[0])), TextOf(arguments[1]));
  ReturnText(context, parts.*kPart);
}

}  // namespace

absl::Status AddSqlFunctions(SqliteConnection* connection) {
  RETURN_IF_ERROR(connection->AddFunction("layout_value", 2, LayoutValue));
  RETURN_IF_ERROR(connection->AddFunction("option_value", 2, OptionValue));
  RETURN_IF_ERROR(connection->AddFunction("shape_hash", 2, ShapeHashOfPlan));
  RETURN_IF_ERROR(connection->AddFunction("shape_hash", 1, ShapeHashOfText));
  RETURN_IF_ERROR(connection->AddFunction("shape_of", 1, Shape));
  RETURN_IF_ERROR(connection->AddFunction("plan_own", 2, PlanPart<&PlanParts::own>));
  RETURN_IF_ERROR(connection->AddFunction("plan_model", 2, PlanPart<&PlanParts::model>));
  return connection->AddFunction("plan_training", 2, PlanPart<&PlanParts::training>);
}

}  // namespace meshwright::db

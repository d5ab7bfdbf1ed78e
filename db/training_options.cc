#include "db/training_options.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "base/text/json_text.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "db/added_columns.h"
#include "nlohmann/json.hpp"
#include "planner/spec/option_choice.h"

namespace meshwright::db {
namespace {

using planner::OptionNames;

std::string InsertOptionsSql() {
  std::string columns;
  std::string places;
  for (const std::string_view name : OptionNames()) {
    absl::StrAppend(&columns, ", ", AbslView(name));
    places += ", ?";
  }
  return absl::StrCat("INSERT OR IGNORE INTO training_options (training_hash", columns,
                      ") VALUES (?", places, ")");
}

// What can't be read, as an empty text, has the default.
std::string OptionIn(const absl::StatusOr<nlohmann::json>& training, std::string_view name) {
  if (training.ok() && training->is_object()) {
    const auto value = training->find(std::string(name));
    if (value != training->end() && value->is_string()) return value->get<std::string>();
  }
  return planner::DefaultOptionText(name);
}

}  // namespace

std::string OptionOfTraining(std::string_view training_json, std::string_view name) {
  return OptionIn(ParseJson("training", training_json), name);
}

absl::Status StoreTrainingOptions(SqliteConnection* connection, std::string_view training_hash,
                                  std::string_view training_json) {
  static const auto* const kInsert = new std::string(InsertOptionsSql());
  ASSIGN_OR_RETURN(SqliteStatement insert, connection->Prepare(*kInsert));
  insert.Bind(training_hash);
  const absl::StatusOr<nlohmann::json> training = ParseJson("training", training_json);
  for (const std::string_view name : OptionNames()) {
    insert.Bind(std::string_view(OptionIn(training, name)));
  }
  return insert.Run();
}

absl::Status AddOptionColumns(SqliteConnection* connection) {
  std::vector<AddedColumn> columns;
  for (const std::string_view option : OptionNames()) {
    columns.push_back({.name = std::string(option),
                       .type = "TEXT",
                       .value = absl::StrCat("option_value(coalesce((SELECT json FROM trainings "
                                             "WHERE hash = training_hash), ''), '",
                                             AbslView(option), "')")});
  }
  return AddColumns(connection, "training_options", columns, /*condition=*/"1");
}

}  // namespace meshwright::db

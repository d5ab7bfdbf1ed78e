// The options of a run (planner/spec/option_choice.h) as columns of table `training_options`, which
// has a row for each training that a sweep or a measurement has.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "db/sqlite.h"

namespace meshwright::db {

// Returns the value of an option in a training's JSON, which has the options that do not have their
// default. An empty text has all defaults. REQUIRES: planner::OptionNames() has the name.
std::string OptionOfTraining(std::string_view training_json, std::string_view name);

// Inserts the options of a training unless the table has them.
absl::Status StoreTrainingOptions(SqliteConnection* connection, std::string_view training_hash,
                                  std::string_view training_json);

// Adds a column to table `training_options` for each option that has none there, and fills in
// missing values of its rows (db/added_columns.h). REQUIRES: AddSqlFunctions() was called, and the
// file has the schema of this program.
absl::Status AddOptionColumns(SqliteConnection* connection);

}  // namespace meshwright::db

// StoreTrainingOptions() stores a run's options (planner/spec/option_choice.h) as columns of table
// `training_options`, which has one row per training of a sweep or a measurement.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "db/sqlite.h"

namespace meshwright::db {

// Returns the value of an option in a training's JSON, or the option's default if the JSON lacks
// it. In an empty text, all options have their defaults. REQUIRES: planner::OptionNames() has the
// name.
std::string OptionOfTraining(std::string_view training_json, std::string_view name);

// Inserts the options of a training unless the table has them.
absl::Status StoreTrainingOptions(SqliteConnection* connection, std::string_view training_hash,
                                  std::string_view training_json);

// Adds a column to table `training_options` for each option without a column there, and fills in
// missing values (db/added_columns.h). REQUIRES: AddSqlFunctions() was called, and the file has the
// schema of this program.
absl::Status AddOptionColumns(SqliteConnection* connection);

}  // namespace meshwright::db

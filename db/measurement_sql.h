// These functions make the keys of a layout (planner/layout/keys.h) columns of the tables `layouts`
// and `measurements`.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "db/sqlite.h"

namespace meshwright::db {

// Returns ", tp, cp, ...", with every key. These are the columns of table `layouts`.
std::string LayoutColumns();
// Returns ", ?" once for each column of LayoutColumns().
std::string LayoutParameters();
// Binds a value for each column of LayoutColumns(), or NULL if the layout's text can't be parsed.
void BindKeys(std::string_view layout, SqliteStatement& insert);

// Returns ", tp, cp, ...", with the keys for which table `measurements` has a column. With "l." as
// `table`, returns ", l.tp, l.cp, ...".
std::string MeasurementKeyColumns(absl::string_view table = "");

// Adds a column to table `layouts` for each key without a column there, and fills in missing values
// (db/added_columns.h). REQUIRES: AddSqlFunctions() was called, and the file has the schema of this
// program.
absl::Status AddKeyColumns(SqliteConnection* connection);

}  // namespace meshwright::db

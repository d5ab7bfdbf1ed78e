// The keys of a layout (planner/layout/keys.h) as columns of the tables of layouts and of
// measurements.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "db/sqlite.h"

namespace meshwright::db {

// ", tp, cp, ...", every key: the columns of table `layouts`.
std::string LayoutColumns();
// As many times ", ?".
std::string LayoutParameters();
// Binds one value for each of them; NULL where the layout's text can't be read.
void BindKeys(std::string_view layout, SqliteStatement& insert);

// ", tp, cp, ...", the keys that table `measurements` has a column of; with `table` "l.",
// ", l.tp, l.cp, ...".
std::string MeasurementKeyColumns(absl::string_view table = "");

// Gives table `layouts` a column for each key that it has none of, and each layout its values
// there: of a key that is newer than the file, or than the program that wrote the layout. One
// transaction. REQUIRES: AddSqlFunctions() and the schema of this program.
absl::Status AddKeyColumns(SqliteConnection* connection);

}  // namespace meshwright::db

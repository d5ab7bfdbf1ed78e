// What migrations and writes ask of texts in SQL.
//
//   layout_value(layout, name)  an axis of a layout's text: a whole number, or the word of rc and
//                               sched; NULL where the text can't be read
//   shape_hash(json, key)       hash of the object `key` of a JSON text without its name; '' where
//                               there is none
#pragma once

#include "absl/status/status.h"
#include "db/sqlite.h"

namespace meshwright::db {

absl::Status AddSqlFunctions(SqliteConnection* connection);

}  // namespace meshwright::db

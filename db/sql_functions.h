// What migrations and writes ask of texts in SQL.
//
//   layout_value(layout, name)  a key of a layout's text, as conditions have it: a whole number or
//   a
//                               text; NULL where the layout can't be read
//   shape_hash(json)            ShapeHash() of a text
//   shape_hash(plan, key)       the same of the plan's object `key`; '' where there is none
//   shape_of(json)              ShapeOf() of a text
//   plan_own(plan, name), plan_model(plan, name), plan_training(plan, name)
//                               parts of a plan, whose model is called so
#pragma once

#include "absl/status/status.h"
#include "db/sqlite.h"

namespace meshwright::db {

absl::Status AddSqlFunctions(SqliteConnection* connection);

}  // namespace meshwright::db

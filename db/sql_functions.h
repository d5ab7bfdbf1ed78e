// AddSqlFunctions() registers the SQL functions that migrations and INSERT statements call.
//
//   layout_value(layout, name)  the value of key `name` in a layout's text: a whole number or a
//                               text; NULL if the layout can't be parsed
//   option_value(json, name)    OptionOfTraining() of a text (db/training_options.h)
//   shape_hash(json)            ShapeHash() of a text
//   shape_hash(plan, key)       ShapeHash() of the plan's object `key`; '' if there is none
//   shape_of(json)              ShapeOf() of a text
//   plan_own(plan, name)        PlanParts::own of a plan whose model is called `name`
//   plan_model(plan, name)      PlanParts::model of such a plan
//   plan_training(plan, name)   PlanParts::training of such a plan
#pragma once

#include "absl/status/status.h"
#include "db/sqlite.h"

namespace meshwright::db {

// Registers the functions above on the connection.
absl::Status AddSqlFunctions(SqliteConnection* connection);

}  // namespace meshwright::db

// The axes of a layout as columns of the table of measurements.
#pragma once

#include <string>
#include <string_view>

#include "db/sqlite.h"

namespace meshwright::db {

// Of a statement that inserts a row: ", tp, cp, ..." and as many times ", ?".
struct AxisSql {
  AxisSql();

  std::string columns;
  std::string values;
};

// Binds one value for each of them; NULL where the layout's text can't be read.
void BindAxes(std::string_view layout, SqliteStatement& insert);

}  // namespace meshwright::db

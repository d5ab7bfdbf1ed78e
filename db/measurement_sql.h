// The axes of a layout as columns of the tables of layouts and of measurements.
#pragma once

#include <string>
#include <string_view>

#include "absl/strings/string_view.h"
#include "db/sqlite.h"

namespace meshwright::db {

// ", tp, cp, ...": with `table` "l.", ", l.tp, l.cp, ...".
std::string AxisColumns(absl::string_view table = "");
// As many times ", ?".
std::string AxisParameters();

// Binds one value for each of them; NULL where the layout's text can't be read.
void BindAxes(std::string_view layout, SqliteStatement& insert);

}  // namespace meshwright::db

// AddColumns() adds missing columns to a table when a store is opened. A new layout key or training
// option in the planner therefore needs no migration.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "db/sqlite.h"

namespace meshwright::db {

struct AddedColumn {
  std::string name;
  absl::string_view type;  // static storage
  std::string value;       // an expression over the table's other columns, never NULL
};

// Adds each column that the table lacks, and fills in missing values of the rows for which
// `condition` holds, in one transaction. Values are missing if a column is newer than the file or
// than the program that wrote the row.
absl::Status AddColumns(SqliteConnection* connection, absl::string_view table,
                        const std::vector<AddedColumn>& columns, absl::string_view condition);

}  // namespace meshwright::db

// FindDamage() and CheckIsWhole() have SQLite search a database file for damage.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "db/sqlite.h"

namespace meshwright::db {

// Returns everything that SQLite finds wrong with pages, rows and indexes; empty for a whole file.
// Reads the whole file.
absl::StatusOr<std::vector<std::string>> FindDamage(SqliteConnection* connection);

// Returns one sentence for each row that refers to a missing row.
absl::StatusOr<std::vector<std::string>> DanglingReferences(SqliteConnection* connection);

// Returns DataLoss if pages or rows are inconsistent. The error names the file, the first damage
// and what to do. Reads the whole file once; unlike FindDamage(), does not look up every row in
// every index.
absl::Status CheckIsWhole(SqliteConnection* connection);

}  // namespace meshwright::db

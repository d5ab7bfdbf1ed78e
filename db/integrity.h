// What can be wrong inside a database file, as SQLite finds it.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "db/sqlite.h"

namespace meshwright {

// Everything that SQLite finds wrong with pages, rows and indexes; empty for a whole file. Reads
// all of the file.
absl::StatusOr<std::vector<std::string>> FindDamage(SqliteConnection* connection);

// One sentence for each row that refers to one that is missing.
absl::StatusOr<std::vector<std::string>> DanglingReferences(SqliteConnection* connection);

// DataLoss, naming the file, the first damage and what to do, unless the pages and rows hang
// together. It does not compare the indexes with their tables, which FindDamage() does and which
// takes several times as long; it reads all of the file, about a second for a gigabyte.
absl::Status CheckIsWhole(SqliteConnection* connection);

}  // namespace meshwright

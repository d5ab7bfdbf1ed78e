// The database file of a server: made, checked, brought up to date and opened.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "db/sqlite.h"

namespace meshwright::db {

// Opens or creates the file and migrates it, after a look through all of it; it is in WAL mode with
// full synchronisation then. FailedPrecondition, naming the file, for one that is not a database,
// belongs to another application or has a newer schema; DataLoss for one that is damaged. Readable
// for the owner of the process alone.
absl::StatusOr<std::unique_ptr<SqliteConnection>> OpenDatabase(const std::string& path);

}  // namespace meshwright::db

// Creates, checks, migrates and opens the database file of a server.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "db/sqlite.h"

namespace meshwright::db {

// When a file is checked for damage: before it is opened, which takes seconds per GiB, or while it
// is in use, by a DamageSearch that the caller starts. A file that has to be migrated is always
// checked before it is opened.
enum class LookOver : uint8_t { kBefore, kLater };

// Returns kLater for files whose check takes longer than people wait for a server to start.
LookOver LookOverFor(const std::string& path);

// Opens or creates the file, and migrates it. The file is then in WAL mode with full
// synchronisation, and only the process's owner can read it. Returns FailedPrecondition, naming the
// file, if it is not a database, belongs to another application or has a newer schema. Returns
// DataLoss if it was found damaged.
absl::StatusOr<std::unique_ptr<SqliteConnection>> OpenDatabase(
    const std::string& path, LookOver look_over = LookOver::kBefore);

}  // namespace meshwright::db

// The database file of a server: made, checked, brought up to date and opened.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "db/sqlite.h"

namespace meshwright::db {

// When a file is looked over for damage: before it is opened, which takes seconds for each GiB; or
// by a DamageSearch while it is in use. One that is migrated is looked over before that in any
// case.
enum class LookOver : uint8_t { kBefore, kLater };

// kLater for files that take longer than people wait for a server to start.
LookOver LookOverFor(const std::string& path);

// Opens or creates the file and migrates it; it is in WAL mode with full synchronisation then.
// FailedPrecondition, naming the file, for one that is not a database, belongs to another
// application or has a newer schema; DataLoss for one that was found to be damaged. Readable for
// the owner of the process alone.
absl::StatusOr<std::unique_ptr<SqliteConnection>> OpenDatabase(
    const std::string& path, LookOver look_over = LookOver::kBefore);

}  // namespace meshwright::db

// OpenDatabase() creates, checks, migrates and opens a server's database file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "db/sqlite.h"

namespace meshwright::db {

// Says when a file is checked for damage. kBefore: before the file is opened; the check takes
// seconds per GiB. kLater: while the file is in use, by a DamageSearch that the caller starts. A
// file that has to be migrated is always checked first.
enum class LookOver : uint8_t { kBefore, kLater };

// Returns kLater for files whose check takes longer than people wait for a server to start.
LookOver LookOverFor(const std::string& path);

// Opens or creates the file, and migrates it. The file is then in WAL mode with full
// synchronisation, and only the process's owner can read it. Returns FailedPrecondition, naming the
// file, if it is not a database, belongs to another application or has a newer schema. Returns
// DataLoss if the check finds damage.
absl::StatusOr<std::unique_ptr<SqliteConnection>> OpenDatabase(
    const std::string& path, LookOver look_over = LookOver::kBefore);

}  // namespace meshwright::db

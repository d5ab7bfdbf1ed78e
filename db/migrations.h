// Migrate() brings a database file to the latest schema version. Each version has one .sql file in
// db/migrations, and the files are applied in order.
//
// PRAGMA application_id marks a file as one of this program. PRAGMA user_version is its schema
// version.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "db/sqlite.h"

namespace meshwright::db {

inline constexpr int64_t kApplicationId = 0x4d574254;  // "MWBT"

// The script at index N - 1 turns schema version N - 1 into version N.
using MigrationScripts = std::vector<std::string_view>;

// Returns the scripts of this program.
const MigrationScripts& SchemaMigrations();

// Returns the version that this program writes.
int64_t LatestSchemaVersion();

// Returns the version of the file, which is 0 for an empty file. Returns FailedPrecondition, naming
// the file, for a database of another application and for a version above `latest`.
absl::StatusOr<int64_t> SchemaVersion(SqliteConnection* connection,
                                      int64_t latest = LatestSchemaVersion());

// Returns FailedPrecondition, which says how to migrate a file of this older version.
absl::Status IsOfAnOlderVersion(const std::string& path, int64_t version);

// Returns the path to which Migrate() copies a file of this version before it changes the file.
std::string CopyBeforeMigration(const std::string& path, int64_t version);

// Brings the file to the version of the last script. A file that is not empty is first copied to
// CopyBeforeMigration(). All scripts run in one transaction. A file therefore has its old version
// or the latest one, and a migration that was killed can be repeated with the same copy. If a
// script rebuilds a table, the rows that refer to the table are kept. If a script leaves a dangling
// reference, nothing is changed and DataLoss is returned. On success, foreign keys are enforced
// from then on.
absl::Status Migrate(SqliteConnection* connection,
                     const MigrationScripts& scripts = SchemaMigrations());

}  // namespace meshwright::db

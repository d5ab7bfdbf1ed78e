// The schema and its versions: one .sql file in db/migrations per version, applied in order.
//
// PRAGMA application_id says that a file is ours. PRAGMA user_version is the version of its schema.
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

// Returns the version of the file; 0 for one that is still empty. Returns FailedPrecondition,
// naming the file, for a database of another application and for a version above `latest`.
absl::StatusOr<int64_t> SchemaVersion(SqliteConnection* connection,
                                      int64_t latest = LatestSchemaVersion());

// Returns FailedPrecondition, which says how a file of that version is brought up to date.
absl::Status IsOfAnOlderVersion(const std::string& path, int64_t version);

// Returns the path to which Migrate() copies a file of this version before it changes the file.
std::string CopyBeforeMigration(const std::string& path, int64_t version);

// Brings the file to the version of the last script. A file that is not empty is first copied to
// CopyBeforeMigration(). All scripts are one transaction, so that a file has its old version or the
// latest, and a migration that was killed starts from the same version, with the same copy. If a
// script rebuilds a table, the rows that refer to the table are kept. If a script leaves a dangling
// reference, nothing is changed and DataLoss says so. On success, foreign keys are enforced from
// then on.
absl::Status Migrate(SqliteConnection* connection,
                     const MigrationScripts& scripts = SchemaMigrations());

}  // namespace meshwright::db

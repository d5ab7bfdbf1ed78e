// The schema and its versions: one .sql file in db/migrations per version, applied in order.
//
// PRAGMA application_id says that a file is ours, PRAGMA user_version which migration it has seen.
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

// What makes version N of version N - 1 stands at N - 1.
using MigrationScripts = std::vector<std::string_view>;

// Those of this program.
const MigrationScripts& SchemaMigrations();

// The version that this program writes.
int64_t LatestSchemaVersion();

// Version of the file; 0 for one that is still empty. FailedPrecondition, naming the file, for a
// database of another application and for one of a version above `latest`.
absl::StatusOr<int64_t> SchemaVersion(SqliteConnection* connection,
                                      int64_t latest = LatestSchemaVersion());

// FailedPrecondition that says how a file of that version is brought up to date.
absl::Status IsOfAnOlderVersion(const std::string& path, int64_t version);

// Where Migrate() keeps the file as it was at `version`.
std::string CopyBeforeMigration(const std::string& path, int64_t version);

// Brings the file to the version of the last script. A file that holds something is copied to
// CopyBeforeMigration() first. Each script is one transaction, in which a rebuilt table keeps the
// rows that refer to it; one that leaves a dangling reference is undone and DataLoss says so.
// Foreign keys are enforced when it returns.
absl::Status Migrate(SqliteConnection* connection,
                     const MigrationScripts& scripts = SchemaMigrations());

}  // namespace meshwright::db

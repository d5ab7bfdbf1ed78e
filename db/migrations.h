// The schema and its versions: one .sql file in db/migrations per version, applied in order.
//
// PRAGMA application_id says that a file is ours, PRAGMA user_version which migration it has seen.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "db/sqlite.h"

namespace meshwright {

inline constexpr int64_t kApplicationId = 0x4d574254;  // "MWBT"

// The version that this program writes.
int64_t LatestSchemaVersion();

// Version of the file; 0 for one that is still empty. FailedPrecondition, naming the file, for a
// database of another application and for one of a version this program doesn't know.
absl::StatusOr<int64_t> SchemaVersion(SqliteConnection* connection);

// Brings the file to LatestSchemaVersion(). Each migration is one transaction.
absl::Status Migrate(SqliteConnection* connection);

}  // namespace meshwright

#include "db/migrations.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "planner/data/embedded.h"
#include "planner/spec/status_macros.h"

namespace meshwright {

// db/migrations/*.sql in order of their names.
absl::Span<const EmbeddedFile> EmbeddedMigrations();

int64_t LatestSchemaVersion() { return static_cast<int64_t>(EmbeddedMigrations().size()); }

absl::StatusOr<int64_t> SchemaVersion(SqliteConnection* connection) {
  ASSIGN_OR_RETURN(const int64_t application, connection->QueryInt("PRAGMA application_id"));
  ASSIGN_OR_RETURN(const int64_t version, connection->QueryInt("PRAGMA user_version"));
  ASSIGN_OR_RETURN(const int64_t tables,
                   connection->QueryInt("SELECT count(*) FROM sqlite_schema"));
  if (application == 0 && version == 0 && tables == 0) return 0;
  if (application != kApplicationId) {
    return absl::FailedPreconditionError(
        absl::StrCat(connection->path(), " is a database of another application"));
  }
  if (version > LatestSchemaVersion()) {
    return absl::FailedPreconditionError(
        absl::StrCat(connection->path(), " has schema version ", version,
                     ", and this program knows versions up to ", LatestSchemaVersion(),
                     ": use the newer meshwright that wrote it"));
  }
  return version;
}

absl::Status Migrate(SqliteConnection* connection) {
  ASSIGN_OR_RETURN(const int64_t version, SchemaVersion(connection));
  const absl::Span<const EmbeddedFile> migrations = EmbeddedMigrations();
  for (int64_t next = version; next < LatestSchemaVersion(); ++next) {
    ASSIGN_OR_RETURN(SqliteTransaction transaction, SqliteTransaction::Begin(connection));
    // Another process may have migrated it while this one waited for the lock.
    ASSIGN_OR_RETURN(const int64_t current, SchemaVersion(connection));
    if (current > next) continue;
    RETURN_IF_ERROR(connection->Execute(std::string(migrations[static_cast<size_t>(next)].text)));
    RETURN_IF_ERROR(connection->Execute(absl::StrCat("PRAGMA application_id = ", kApplicationId,
                                                     "; PRAGMA user_version = ", next + 1)));
    RETURN_IF_ERROR(transaction.Commit());
  }
  return absl::OkStatus();
}

}  // namespace meshwright

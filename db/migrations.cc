#include "db/migrations.h"

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/text/status_macros.h"
#include "db/integrity.h"
#include "db/sql_functions.h"
#include "planner/data/embedded.h"

namespace meshwright::db {

// db/migrations/*.sql in order of their names.
absl::Span<const planner::EmbeddedFile> EmbeddedMigrations();

namespace {

// Brings the file to `version`, within the caller's transaction.
absl::Status Apply(SqliteConnection* connection, const MigrationScripts& scripts, int64_t version) {
  RETURN_IF_ERROR(connection->Execute(std::string(scripts[static_cast<size_t>(version - 1)])));
  ASSIGN_OR_RETURN(const std::vector<std::string> dangling, DanglingReferences(connection));
  if (!dangling.empty()) {
    return absl::DataLossError(absl::StrCat("database ", connection->path(),
                                            " can't be brought to schema version ", version,
                                            " and stays as it is: ", dangling.front()));
  }
  return connection->Execute(absl::StrCat("PRAGMA application_id = ", kApplicationId,
                                          "; PRAGMA user_version = ", version));
}

absl::Status ApplyAll(SqliteConnection* connection, const MigrationScripts& scripts) {
  const auto latest = static_cast<int64_t>(scripts.size());
  ASSIGN_OR_RETURN(SqliteTransaction transaction, SqliteTransaction::Begin(connection));
  // Another process may have migrated the file while this one waited for the lock.
  ASSIGN_OR_RETURN(const int64_t version, SchemaVersion(connection, latest));
  for (int64_t next = version + 1; next <= latest; ++next) {
    RETURN_IF_ERROR(Apply(connection, scripts, next));
  }
  return transaction.Commit();
}

absl::Status EnforceForeignKeys(SqliteConnection* connection) {
  RETURN_IF_ERROR(connection->Execute("PRAGMA foreign_keys = ON"));
  ASSIGN_OR_RETURN(const int64_t enforced, connection->QueryInt("PRAGMA foreign_keys"));
  if (enforced == 1) return absl::OkStatus();
  return absl::InternalError("this SQLite does not enforce foreign keys");
}

}  // namespace

const MigrationScripts& SchemaMigrations() {
  static const MigrationScripts* const kScripts = [] {
    auto* scripts = new MigrationScripts();
    for (const planner::EmbeddedFile& file : EmbeddedMigrations()) scripts->push_back(file.text);
    return scripts;
  }();
  return *kScripts;
}

int64_t LatestSchemaVersion() { return static_cast<int64_t>(SchemaMigrations().size()); }

absl::StatusOr<int64_t> SchemaVersion(SqliteConnection* connection, int64_t latest) {
  ASSIGN_OR_RETURN(const int64_t application, connection->QueryInt("PRAGMA application_id"));
  ASSIGN_OR_RETURN(const int64_t version, connection->QueryInt("PRAGMA user_version"));
  ASSIGN_OR_RETURN(const int64_t tables,
                   connection->QueryInt("SELECT count(*) FROM sqlite_schema"));
  if (application == 0 && version == 0 && tables == 0) return 0;
  if (application != kApplicationId) {
    return absl::FailedPreconditionError(
        absl::StrCat(connection->path(), " is a database of another application"));
  }
  if (version > latest) {
    return absl::FailedPreconditionError(
        absl::StrCat(connection->path(), " has schema version ", version,
                     ", and this program knows versions up to ", latest,
                     ": use the newer meshwright that wrote it"));
  }
  return version;
}

absl::Status IsOfAnOlderVersion(const std::string& path, int64_t version) {
  return absl::FailedPreconditionError(
      absl::StrCat(path, " has schema version ", version, ", older than ", LatestSchemaVersion(),
                   ": start `meshwright serve` on it to bring it up to date"));
}

std::string CopyBeforeMigration(const std::string& path, int64_t version) {
  return absl::StrCat(path, ".before-v", version + 1);
}

absl::Status Migrate(SqliteConnection* connection, const MigrationScripts& scripts) {
  const auto latest = static_cast<int64_t>(scripts.size());
  ASSIGN_OR_RETURN(const int64_t version, SchemaVersion(connection, latest));
  if (0 < version && version < latest) {
    RETURN_IF_ERROR(connection->CopyTo(CopyBeforeMigration(connection->path(), version)));
  }
  RETURN_IF_ERROR(AddSqlFunctions(connection));
  // Dropping a table to rebuild it would delete what refers to it; this can't be set inside a
  // transaction.
  RETURN_IF_ERROR(connection->Execute("PRAGMA foreign_keys = OFF"));
  RETURN_IF_ERROR(ApplyAll(connection, scripts));
  return EnforceForeignKeys(connection);
}

}  // namespace meshwright::db

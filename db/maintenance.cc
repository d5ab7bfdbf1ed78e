#include "db/maintenance.h"

#include <filesystem>
#include <limits>
#include <memory>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "base/text/status_macros.h"
#include "db/database.h"
#include "db/integrity.h"
#include "db/migrations.h"
#include "db/sqlite.h"
#include "db/sqlite_sweeps.h"
#include "db/store_lock.h"

namespace meshwright::db {
namespace {

namespace fs = std::filesystem;
using Mode = SqliteConnection::Mode;

// Deletes facets that no candidate, sweep or measurement has.
constexpr char kForgetUnusedFacets[] =
    "DELETE FROM layouts WHERE layout NOT IN "
    "(SELECT layout FROM candidates UNION SELECT layout FROM measurements); "
    "DELETE FROM settings WHERE (model, cluster, devices, seq_len, global_batch, precision) NOT IN "
    "(SELECT model, cluster, devices, seq_len, global_batch, precision FROM sweeps UNION "
    "SELECT model, cluster, devices, seq_len, global_batch, precision FROM measurements); "
    "DELETE FROM training_options WHERE training_hash NOT IN "
    "(SELECT coalesce(training_hash, '') FROM sweeps UNION SELECT training_hash FROM "
    "measurements); "
    "DELETE FROM origins WHERE (source, worker_version, outcome) NOT IN "
    "(SELECT source, worker_version, outcome FROM measurements)";

int64_t SizeOf(const std::string& path) {
  std::error_code error;
  const uintmax_t size = fs::file_size(path, error);
  return error ? 0 : static_cast<int64_t>(size);
}

absl::StatusOr<std::unique_ptr<SqliteConnection>> OpenToRead(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) {
    return absl::NotFoundError(absl::StrCat("there is no database file ", path));
  }
  ASSIGN_OR_RETURN(std::unique_ptr<SqliteConnection> connection,
                   SqliteConnection::Open(path, Mode::kReadOnly));
  ASSIGN_OR_RETURN(const int64_t version, SchemaVersion(connection.get()));
  if (version < LatestSchemaVersion()) return IsOfAnOlderVersion(path, version);
  return connection;
}

// Deletes the rows of `table` that no sweep names in `column`. Returns how many.
absl::StatusOr<int64_t> ForgetUnused(SqliteConnection* connection, absl::string_view table,
                                     absl::string_view column) {
  RETURN_IF_ERROR(
      connection->Execute(absl::StrCat("DELETE FROM ", table, " WHERE hash NOT IN (SELECT ", column,
                                       " FROM sweeps WHERE ", column, " IS NOT NULL)")));
  return connection->Changes();
}

absl::StatusOr<int64_t> ForgetUnusedShapes(SqliteConnection* connection) {
  ASSIGN_OR_RETURN(SqliteTransaction transaction, SqliteTransaction::Begin(connection));
  int64_t forgotten = 0;
  const struct {
    absl::string_view table;
    absl::string_view column;
  } shapes[] = {{"models", "model_hash"},
                {"trainings", "training_hash"},
                {"clusters", "cluster_hash"},
                {"profiles", "profile_hash"}};
  for (const auto& [table, column] : shapes) {
    ASSIGN_OR_RETURN(const int64_t rows, ForgetUnused(connection, table, column));
    forgotten += rows;
  }
  RETURN_IF_ERROR(connection->Execute(kForgetUnusedFacets));
  RETURN_IF_ERROR(transaction.Commit());
  return forgotten;
}

}  // namespace

absl::StatusOr<BackUpResult> BackUpStore(const std::string& path, const std::string& to) {
  ASSIGN_OR_RETURN(const std::unique_ptr<SqliteConnection> connection, OpenToRead(path));
  std::error_code error;
  if (fs::exists(to, error)) {
    return absl::AlreadyExistsError(
        absl::StrCat(to, " exists and stays as it is: give the copy another name"));
  }
  RETURN_IF_ERROR(connection->CopyTo(to));
  ASSIGN_OR_RETURN(const std::unique_ptr<SqliteConnection> copy,
                   SqliteConnection::Open(to, Mode::kImmutable));
  RETURN_IF_ERROR(CheckIsWhole(copy.get()));
  BackUpResult result;
  ASSIGN_OR_RETURN(result.sweeps, copy->QueryInt("SELECT count(*) FROM sweeps"));
  result.bytes = SizeOf(to);
  return result;
}

absl::StatusOr<CompactResult> CompactStore(const std::string& path,
                                           std::optional<absl::Time> events_before) {
  RETURN_IF_ERROR(OpenToRead(path).status());
  ASSIGN_OR_RETURN(const StoreLock lock, StoreLock::Take(path));
  ASSIGN_OR_RETURN(const std::unique_ptr<SqliteConnection> connection, OpenDatabase(path));
  CompactResult result;
  result.bytes_before = SizeOf(path) + SizeOf(absl::StrCat(path, "-wal"));
  if (events_before) {
    SqliteSweeps sweeps(connection.get());
    ASSIGN_OR_RETURN(result.events,
                     sweeps.PruneEvents(*events_before, std::numeric_limits<int64_t>::max()));
  }
  ASSIGN_OR_RETURN(result.shapes, ForgetUnusedShapes(connection.get()));
  // VACUUM writes all of the data to a temporary database, which must not be in memory.
  RETURN_IF_ERROR(
      connection->Execute("PRAGMA temp_store = FILE; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)"));
  result.bytes_after = SizeOf(path);
  return result;
}

}  // namespace meshwright::db

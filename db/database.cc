#include "db/database.h"

#include <filesystem>
#include <system_error>

#include "base/text/status_macros.h"
#include "db/integrity.h"
#include "db/measurement_sql.h"
#include "db/migrations.h"

namespace meshwright::db {
namespace {

// Half a second's work where its pages are in memory, a few seconds' where they are on a disk.
constexpr uintmax_t kMostBytesBefore = uintmax_t{256} << 20;

}  // namespace

LookOver LookOverFor(const std::string& path) {
  std::error_code error;  // a file that is not there yet is not large
  const uintmax_t bytes = std::filesystem::file_size(path, error);
  return !error && bytes > kMostBytesBefore ? LookOver::kLater : LookOver::kBefore;
}

absl::StatusOr<std::unique_ptr<SqliteConnection>> OpenDatabase(const std::string& path,
                                                               LookOver look_over) {
  ASSIGN_OR_RETURN(std::unique_ptr<SqliteConnection> connection,
                   SqliteConnection::Open(path, SqliteConnection::Mode::kReadWriteCreate));
  // Before anything is written: a file that is damaged or not ours stays as it is.
  const absl::StatusOr<int64_t> version = SchemaVersion(connection.get());
  if (!version.ok() && !absl::IsDataLoss(version.status())) return version.status();
  if (look_over == LookOver::kBefore || !version.ok() || *version != LatestSchemaVersion()) {
    RETURN_IF_ERROR(CheckIsWhole(connection.get()));
  }
  // What a part of a transaction needs to be undone alone is kept in memory: with a file, every
  // part writes there first. What a group of results touches fits into 32 MiB: with less, pages are
  // written before the group is whole, and again with it. A checkpoint every 16 MiB writes a page
  // once that many groups changed.
  RETURN_IF_ERROR(
      connection->Execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; "
                          "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -32768; "
                          "PRAGMA wal_autocheckpoint = 4096"));
  if (path != kInMemory) KeepToOwner(path);
  RETURN_IF_ERROR(Migrate(connection.get()));
  RETURN_IF_ERROR(AddKeyColumns(connection.get()));
  return connection;
}

}  // namespace meshwright::db

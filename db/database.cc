#include "db/database.h"

#include "db/integrity.h"
#include "db/migrations.h"
#include "planner/base/status_macros.h"

namespace meshwright::db {

absl::StatusOr<std::unique_ptr<SqliteConnection>> OpenDatabase(const std::string& path) {
  ASSIGN_OR_RETURN(std::unique_ptr<SqliteConnection> connection,
                   SqliteConnection::Open(path, SqliteConnection::Mode::kReadWriteCreate));
  // Before anything is written: a file that is damaged or not ours stays as it is.
  const absl::Status version = SchemaVersion(connection.get()).status();
  if (!version.ok() && !absl::IsDataLoss(version)) return version;
  RETURN_IF_ERROR(CheckIsWhole(connection.get()));
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
  return connection;
}

}  // namespace meshwright::db

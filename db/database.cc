#include "db/database.h"

#include <filesystem>
#include <system_error>

#include "base/text/status_macros.h"
#include "db/integrity.h"
#include "db/measurement_sql.h"
#include "db/migrations.h"
#include "db/training_options.h"

namespace meshwright::db {
namespace {

// Checking this much takes half a second where its pages are in memory, and a few seconds where
// they are on disk.
constexpr uintmax_t kMostBytesBefore = uintmax_t{256} << 20;

}  // namespace

LookOver LookOverFor(const std::string& path) {
  std::error_code error;  // a missing file has size 0
  const uintmax_t bytes = std::filesystem::file_size(path, error);
  return !error && bytes > kMostBytesBefore ? LookOver::kLater : LookOver::kBefore;
}

absl::StatusOr<std::unique_ptr<SqliteConnection>> OpenDatabase(const std::string& path,
                                                               LookOver look_over) {
  ASSIGN_OR_RETURN(std::unique_ptr<SqliteConnection> connection,
                   SqliteConnection::Open(path, SqliteConnection::Mode::kReadWriteCreate));
  // Checked before anything is written: a damaged or foreign file stays as it is.
  const absl::StatusOr<int64_t> version = SchemaVersion(connection.get());
  if (!version.ok() && !absl::IsDataLoss(version.status())) return version.status();
  if (look_over == LookOver::kBefore || !version.ok() || *version != LatestSchemaVersion()) {
    RETURN_IF_ERROR(CheckIsWhole(connection.get()));
  }
  // temp_store = MEMORY: undo data of a savepoint stays in memory; in a file, every savepoint would
  // write there first. cache_size: the pages that a group of results touches fit into 32 MiB; with
  // less, pages are written before the group is complete, and again with it. wal_autocheckpoint:
  // with a checkpoint every 16 MiB, a page that many groups changed is written once.
  RETURN_IF_ERROR(
      connection->Execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; "
                          "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -32768; "
                          "PRAGMA wal_autocheckpoint = 4096"));
  if (path != kInMemory) KeepToOwner(path);
  RETURN_IF_ERROR(Migrate(connection.get()));
  RETURN_IF_ERROR(AddKeyColumns(connection.get()));
  RETURN_IF_ERROR(AddOptionColumns(connection.get()));
  return connection;
}

}  // namespace meshwright::db

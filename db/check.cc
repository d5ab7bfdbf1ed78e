#include "db/check.h"

#include <filesystem>
#include <memory>

#include "absl/strings/str_cat.h"
#include "base/text/status_macros.h"
#include "db/integrity.h"
#include "db/migrations.h"
#include "db/sqlite.h"

namespace meshwright::db {
namespace {

namespace fs = std::filesystem;
using OpenMode = SqliteConnection::Mode;

absl::Status FindProblems(SqliteConnection* connection, StoreCheck* check) {
  ASSIGN_OR_RETURN(check->problems, FindDamage(connection));
  ASSIGN_OR_RETURN(const std::vector<std::string> dangling, DanglingReferences(connection));
  check->problems.insert(check->problems.end(), dangling.begin(), dangling.end());
  ASSIGN_OR_RETURN(check->sweeps, connection->QueryInt("SELECT count(*) FROM sweeps"));
  ASSIGN_OR_RETURN(check->trials, connection->QueryInt("SELECT count(*) FROM trials"));
  ASSIGN_OR_RETURN(check->attempts, connection->QueryInt("SELECT count(*) FROM attempts"));
  ASSIGN_OR_RETURN(check->events, connection->QueryInt("SELECT count(*) FROM events"));
  return absl::OkStatus();
}

absl::StatusOr<StoreCheck> CheckIn(const std::string& path, OpenMode mode) {
  ASSIGN_OR_RETURN(const std::unique_ptr<SqliteConnection> connection,
                   SqliteConnection::Open(path, mode));
  StoreCheck check;
  const absl::StatusOr<int64_t> version = SchemaVersion(connection.get());
  if (!version.ok() && !absl::IsDataLoss(version.status())) return version.status();
  check.schema_version = version.value_or(LatestSchemaVersion());
  if (check.schema_version == 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, " is empty: no server has used it yet"));
  }
  if (check.schema_version < LatestSchemaVersion()) {
    return IsOfAnOlderVersion(path, check.schema_version);
  }
  const absl::Status status = FindProblems(connection.get(), &check);
  // Damage that stops the check is a finding rather than an error.
  if (absl::IsDataLoss(status)) {
    if (check.problems.empty()) check.problems.emplace_back(status.message());
    return check;
  }
  RETURN_IF_ERROR(status);
  return check;
}

// Returns the size of the write-ahead log beside the file; 0 if there is none, as after a server
// that has stopped.
int64_t WalBytes(const std::string& path) {
  std::error_code error;
  const uintmax_t size = fs::file_size(path + "-wal", error);
  return error ? 0 : static_cast<int64_t>(size);
}

}  // namespace

absl::StatusOr<StoreCheck> CheckStore(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) {
    return absl::NotFoundError(absl::StrCat("there is no database file ", path));
  }
  if (WalBytes(path) == 0) {
    absl::StatusOr<StoreCheck> check = CheckIn(path, OpenMode::kImmutable);
    // If a server began to write meanwhile, the findings may only look like damage.
    if (WalBytes(path) == 0) return check;
  }
  absl::StatusOr<StoreCheck> check = CheckIn(path, OpenMode::kReadOnly);
  if (!absl::IsUnavailable(check.status())) return check;
  check = CheckIn(path, OpenMode::kImmutable);
  if (check.ok()) check->unseen_wal_bytes = WalBytes(path);
  return check;
}

}  // namespace meshwright::db

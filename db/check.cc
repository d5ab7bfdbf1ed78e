#include "db/check.h"

#include <filesystem>
#include <memory>

#include "absl/strings/str_cat.h"
#include "db/migrations.h"
#include "db/sqlite.h"
#include "planner/spec/status_macros.h"

namespace meshwright {
namespace {

absl::Status CheckIntegrity(SqliteConnection* connection, StoreCheck* check) {
  ASSIGN_OR_RETURN(SqliteStatement integrity, connection->Prepare("PRAGMA integrity_check"));
  while (true) {
    ASSIGN_OR_RETURN(const bool row, integrity.Step());
    if (!row) break;
    if (integrity.Text(0) != "ok") check->problems.push_back(integrity.Text(0));
  }
  ASSIGN_OR_RETURN(SqliteStatement keys, connection->Prepare("PRAGMA foreign_key_check"));
  while (true) {
    ASSIGN_OR_RETURN(const bool row, keys.Step());
    if (!row) break;
    check->problems.push_back(
        absl::StrCat("a row of ", keys.Text(0), " refers to a missing row of ", keys.Text(2)));
  }
  return absl::OkStatus();
}

absl::Status CountRows(SqliteConnection* connection, StoreCheck* check) {
  ASSIGN_OR_RETURN(check->sweeps, connection->QueryInt("SELECT count(*) FROM sweeps"));
  ASSIGN_OR_RETURN(check->trials, connection->QueryInt("SELECT count(*) FROM trials"));
  ASSIGN_OR_RETURN(check->attempts, connection->QueryInt("SELECT count(*) FROM attempts"));
  ASSIGN_OR_RETURN(check->events, connection->QueryInt("SELECT count(*) FROM events"));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<StoreCheck> CheckStore(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return absl::NotFoundError(absl::StrCat("there is no database file ", path));
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<SqliteConnection> connection,
                   SqliteConnection::Open(path, SqliteConnection::Mode::kReadOnly));
  StoreCheck check;
  ASSIGN_OR_RETURN(check.schema_version, SchemaVersion(connection.get()));
  if (check.schema_version == 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, " is empty: no server has used it yet"));
  }
  if (check.schema_version < LatestSchemaVersion()) {
    return absl::FailedPreconditionError(absl::StrCat(
        path, " has schema version ", check.schema_version, ", older than ", LatestSchemaVersion(),
        ": start `meshwright serve` on it to bring it up to date"));
  }
  absl::Status status = CheckIntegrity(connection.get(), &check);
  if (status.ok()) status = CountRows(connection.get(), &check);
  // Damage that stops the check is a finding, not a failure to look.
  if (absl::IsDataLoss(status)) {
    check.problems.emplace_back(status.message());
    return check;
  }
  RETURN_IF_ERROR(status);
  return check;
}

}  // namespace meshwright

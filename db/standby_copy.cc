#include "db/standby_copy.h"

#include <unistd.h>

#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "base/text/status_macros.h"
#include "db/change_capture.h"
#include "db/database.h"
#include "db/integrity.h"
#include "db/migrations.h"

namespace meshwright::db {
namespace {

using Mode = SqliteConnection::Mode;

// Events that a first server may have stored and told watchers of, and that its standby lacks.
constexpr int64_t kMostUnknownEvents = 1'000'000;

absl::Status SetPlace(SqliteConnection* connection, const CopyPlace& place) {
  RETURN_IF_ERROR(connection->Run("DELETE FROM followed"));
  ASSIGN_OR_RETURN(SqliteStatement insert,
                   connection->Prepare("INSERT INTO followed (log_id, number) VALUES (?, ?)"));
  insert.Bind(place.log_id).Bind(place.number);
  return insert.Run();
}

absl::StatusOr<StoreIdentity> IdentityOf(SqliteConnection* connection) {
  ASSIGN_OR_RETURN(SqliteStatement select, connection->Prepare("SELECT id, epoch FROM store"));
  ASSIGN_OR_RETURN(const bool row, select.Step());
  if (!row) return absl::DataLossError(absl::StrCat(connection->path(), " has no identity"));
  return StoreIdentity{select.Text(0), select.Int(1)};
}

}  // namespace

std::string KeptBeforeFollowing(const std::string& path, int64_t epoch) {
  return absl::StrCat(path, ".epoch-", epoch);
}

absl::Status CheckDecides(SqliteConnection* connection) {
  ASSIGN_OR_RETURN(const int64_t rows, connection->QueryInt("SELECT count(*) FROM followed"));
  if (rows == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      connection->path(),
      " is a standby's copy: start `meshwright serve` with --standby-of, and if the first server "
      "is gone, let it take over with `meshwright standby take-over`"));
}

absl::StatusOr<std::unique_ptr<StandbyCopy>> StandbyCopy::Open(const std::string& path) {
  ASSIGN_OR_RETURN(std::unique_ptr<SqliteConnection> connection,
                   SqliteConnection::Open(path, Mode::kReadWriteCreate));
  ASSIGN_OR_RETURN(int64_t version, SchemaVersion(connection.get()));
  if (version != 0 && version != LatestSchemaVersion()) {
    connection.reset();
    ASSIGN_OR_RETURN(connection, OpenDatabase(path));
    version = LatestSchemaVersion();
  }
  RETURN_IF_ERROR(connection->Execute(
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = OFF"));
  KeepToOwner(path);
  auto copy = absl::WrapUnique(new StandbyCopy(std::move(connection)));
  if (version != 0) RETURN_IF_ERROR(copy->ReadIdentity());
  unlink(copy->SnapshotPath().c_str());  // of a standby that was killed while it received one
  return copy;
}

absl::Status StandbyCopy::ReadIdentity() {
  ASSIGN_OR_RETURN(identity_, IdentityOf(connection_.get()));
  ASSIGN_OR_RETURN(SqliteStatement select,
                   connection_->Prepare("SELECT log_id, number FROM followed"));
  ASSIGN_OR_RETURN(const bool row, select.Step());
  place_ = row ? CopyPlace{select.Text(0), select.Int(1)} : CopyPlace();
  return absl::OkStatus();
}

absl::Status StandbyCopy::CheckMayFollow(const StoreIdentity& server) const {
  if (identity_.id.empty()) return absl::OkStatus();
  if (identity_.id != server.id) {
    return absl::FailedPreconditionError(absl::StrCat(path(), " has another store (", identity_.id,
                                                      ") than the first server (", server.id,
                                                      "): name another file with --db"));
  }
  const bool decided = place_.log_id.empty();
  if (identity_.epoch > server.epoch || (decided && identity_.epoch == server.epoch)) {
    return absl::FailedPreconditionError(absl::StrCat(
        path(), " is of epoch ", identity_.epoch,
        " of its store, and the first server is of epoch ", server.epoch, ": the server on ",
        path(), " decides, so start it without --standby-of, and the other one as its standby"));
  }
  return absl::OkStatus();
}

std::string StandbyCopy::SnapshotPath() const { return absl::StrCat(path(), "-received"); }

absl::Status StandbyCopy::KeepDecided() const {
  if (identity_.id.empty() || !place_.log_id.empty()) return absl::OkStatus();
  return connection_->CopyTo(KeptBeforeFollowing(path(), identity_.epoch));
}

absl::Status StandbyCopy::TakeSnapshot(const CopyPlace& place) {
  const std::string received = SnapshotPath();
  absl::Cleanup remove = [&] {
    for (const char* const suffix : {"", "-wal", "-shm"}) unlink((received + suffix).c_str());
  };
  ASSIGN_OR_RETURN(const std::unique_ptr<SqliteConnection> snapshot,
                   SqliteConnection::Open(received, Mode::kReadWriteCreate));
  ASSIGN_OR_RETURN(const int64_t version, SchemaVersion(snapshot.get()));
  if (version != LatestSchemaVersion()) return IsOfAnOlderVersion(received, version);
  RETURN_IF_ERROR(CheckIsWhole(snapshot.get()));
  ASSIGN_OR_RETURN(const StoreIdentity identity, IdentityOf(snapshot.get()));
  RETURN_IF_ERROR(CheckMayFollow(identity));
  RETURN_IF_ERROR(SetPlace(snapshot.get(), place));
  RETURN_IF_ERROR(KeepDecided());
  RETURN_IF_ERROR(snapshot->CopyInto(*connection_));
  return ReadIdentity();
}

absl::Status StandbyCopy::Apply(int64_t number, std::string_view changes) {
  if (place_.log_id.empty() || number != place_.number + 1) {
    return absl::DataLossError(absl::StrCat("transaction ", number, " does not follow transaction ",
                                            place_.number, " of the copy ", path()));
  }
  ASSIGN_OR_RETURN(SqliteTransaction transaction, SqliteTransaction::Begin(connection_.get()));
  RETURN_IF_ERROR(ApplyChanges(connection_.get(), changes));
  const CopyPlace next = {place_.log_id, number};
  RETURN_IF_ERROR(SetPlace(connection_.get(), next));
  RETURN_IF_ERROR(transaction.Commit());
  place_ = next;
  return absl::OkStatus();
}

absl::StatusOr<int64_t> StandbyCopy::TakeOver() {
  if (!complete()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the copy ", path(), " was never complete: it has nothing to go on with"));
  }
  {
    ASSIGN_OR_RETURN(SqliteTransaction transaction, SqliteTransaction::Begin(connection_.get()));
    RETURN_IF_ERROR(connection_->Run("UPDATE store SET epoch = epoch + 1"));
    RETURN_IF_ERROR(connection_->Run("DELETE FROM followed"));
    RETURN_IF_ERROR(connection_->Run(
        "INSERT INTO sqlite_sequence (name, seq) SELECT 'events', 0 WHERE NOT EXISTS "
        "(SELECT 1 FROM sqlite_sequence WHERE name = 'events')"));
    RETURN_IF_ERROR(connection_->Run(absl::StrCat("UPDATE sqlite_sequence SET seq = seq + ",
                                                  kMostUnknownEvents, " WHERE name = 'events'")));
    RETURN_IF_ERROR(transaction.Commit());
  }
  RETURN_IF_ERROR(ReadIdentity());
  return identity_.epoch;
}

}  // namespace meshwright::db

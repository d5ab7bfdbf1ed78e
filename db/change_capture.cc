#include "db/change_capture.h"

#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/text/status_macros.h"

namespace meshwright::db {
namespace {

constexpr char kTokens[] = "tokens";

absl::StatusOr<std::string> ChangesetOf(const SqliteConnection& connection,
                                        sqlite3_session* session) {
  int size = 0;
  void* data = nullptr;
  const int code = sqlite3session_changeset(session, &size, &data);
  if (code != SQLITE_OK) return connection.Error(code);
  std::string changes(static_cast<const char*>(data), static_cast<size_t>(size));
  sqlite3_free(data);
  return changes;
}

// What ApplyChanges() learns from SQLite.
struct Conflict {
  std::string table;
  int kind = 0;
};

int OnConflict(void* context, int kind, sqlite3_changeset_iter* change) {
  const char* table = nullptr;
  int columns = 0;
  int operation = 0;
  int indirect = 0;
  if (sqlite3changeset_op(change, &table, &columns, &operation, &indirect) != SQLITE_OK) {
    table = "";
  }
  const bool is_token = std::string_view(table) == kTokens;
  if (is_token && kind == SQLITE_CHANGESET_NOTFOUND) return SQLITE_CHANGESET_OMIT;
  if (is_token && (kind == SQLITE_CHANGESET_DATA || kind == SQLITE_CHANGESET_CONFLICT)) {
    return SQLITE_CHANGESET_REPLACE;
  }
  *static_cast<Conflict*>(context) = {table, kind};
  return SQLITE_CHANGESET_ABORT;
}

}  // namespace

ChangeCapture::~ChangeCapture() {
  if (session_ != nullptr) sqlite3session_delete(session_);
}

absl::Status ChangeCapture::Restart() {
  if (session_ != nullptr) sqlite3session_delete(std::exchange(session_, nullptr));
  int code = sqlite3session_create(connection_->handle(), "main", &session_);
  if (code == SQLITE_OK) code = sqlite3session_attach(session_, /*zTab=*/nullptr);  // all tables
  return code == SQLITE_OK ? absl::OkStatus() : connection_->Error(code);
}

absl::StatusOr<std::unique_ptr<ChangeCapture>> ChangeCapture::Begin(SqliteConnection* connection) {
  auto capture = absl::WrapUnique(new ChangeCapture(connection));
  RETURN_IF_ERROR(capture->Restart());
  return capture;
}

absl::StatusOr<std::string> ChangeCapture::Take() {
  if (sqlite3session_isempty(session_) != 0) return std::string();
  ASSIGN_OR_RETURN(std::string changes, ChangesetOf(*connection_, session_));
  RETURN_IF_ERROR(Restart());
  return changes;
}

absl::StatusOr<std::unique_ptr<TokenCapture>> TokenCapture::Begin(const std::string& path) {
  ASSIGN_OR_RETURN(std::unique_ptr<SqliteConnection> connection,
                   SqliteConnection::Open(path, SqliteConnection::Mode::kReadOnly));
  ASSIGN_OR_RETURN(
      const std::string sql,
      connection->QueryText("SELECT sql FROM main.sqlite_schema WHERE type = 'table' AND name = "
                            "'tokens'"));
  absl::string_view definition = sql;
  if (!absl::ConsumePrefix(&definition, "CREATE TABLE tokens")) {
    return absl::InternalError(absl::StrCat("the table of tokens is defined as ", sql));
  }
  RETURN_IF_ERROR(connection->Execute(
      absl::StrCat("PRAGMA temp_store = MEMORY; CREATE TEMP TABLE tokens", definition,
                   "; INSERT INTO temp.tokens SELECT * FROM main.tokens")));
  return absl::WrapUnique(new TokenCapture(std::move(connection)));
}

absl::StatusOr<std::string> TokenCapture::Take() {
  // One transaction, so that both readings see the same tokens.
  RETURN_IF_ERROR(connection_->Execute("BEGIN"));
  absl::Cleanup end = [this] { connection_->Execute("COMMIT").IgnoreError(); };
  sqlite3_session* session = nullptr;
  int code = sqlite3session_create(connection_->handle(), "main", &session);
  if (code != SQLITE_OK) return connection_->Error(code);
  absl::Cleanup forget = [session] { sqlite3session_delete(session); };
  code = sqlite3session_attach(session, kTokens);
  if (code != SQLITE_OK) return connection_->Error(code);
  code = sqlite3session_diff(session, "temp", kTokens, /*pzErrMsg=*/nullptr);
  if (code != SQLITE_OK) return connection_->Error(code);
  ASSIGN_OR_RETURN(std::string changes, ChangesetOf(*connection_, session));
  RETURN_IF_ERROR(connection_->Execute(
      "DELETE FROM temp.tokens; INSERT INTO temp.tokens SELECT * FROM main.tokens"));
  return changes;
}

absl::Status ApplyChanges(SqliteConnection* connection, std::string_view changes) {
  Conflict conflict;
  // SQLite takes the changes as not const, and leaves them as they are.
  std::string own(changes);
  const int code = sqlite3changeset_apply(connection->handle(), static_cast<int>(own.size()),
                                          own.data(), /*xFilter=*/nullptr, OnConflict, &conflict);
  if (code == SQLITE_OK) return absl::OkStatus();
  if (code != SQLITE_ABORT) return connection->Error(code);
  return absl::DataLossError(
      absl::StrCat("database ", connection->path(), ": the table ", conflict.table,
                   " is not as it was where the changes come from (conflict ", conflict.kind, ")"));
}

}  // namespace meshwright::db

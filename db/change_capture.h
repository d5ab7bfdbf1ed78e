// ChangeCapture records what a connection changes, and ApplyChanges() makes the same changes in a
// copy. Changes are changesets of SQLite's session extension.
//
// Callers may rely on: a database to which all changes were applied in order has the same rows as
// the original. A change is the difference between a transaction's begin and end, so what was
// undone is not part of it. Tables without a declared primary key are not recorded: that is `store`
// alone, which no server changes while it runs.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "db/sqlite.h"

struct sqlite3_session;

namespace meshwright::db {

// Records one connection's changes. REQUIRES: the connection outlives the capture.
class ChangeCapture {
 public:
  ~ChangeCapture();
  ChangeCapture(const ChangeCapture&) = delete;
  ChangeCapture& operator=(const ChangeCapture&) = delete;

  static absl::StatusOr<std::unique_ptr<ChangeCapture>> Begin(SqliteConnection* connection);

  // Returns the changes since the last call; empty if there are none. REQUIRES: no transaction is
  // active.
  absl::StatusOr<std::string> Take();

 private:
  explicit ChangeCapture(SqliteConnection* connection) : connection_(connection) {}
  absl::Status Restart();

  SqliteConnection* const connection_;
  sqlite3_session* session_ = nullptr;
};

// Finds changes of the table of tokens, which processes besides the server make too
// (db/token_store.h).
class TokenCapture {
 public:
  // Opens a connection of its own to the database at `path`.
  static absl::StatusOr<std::unique_ptr<TokenCapture>> Begin(const std::string& path);

  // Returns the changes since the last call, as ChangeCapture::Take() does.
  absl::StatusOr<std::string> Take();

 private:
  explicit TokenCapture(std::unique_ptr<SqliteConnection> connection)
      : connection_(std::move(connection)) {}

  // Its temporary database has the tokens of the last call.
  const std::unique_ptr<SqliteConnection> connection_;
};

// Makes the changes, within the caller's transaction. Returns DataLoss if a row is not as it was
// when the changes were recorded. Tokens take the recorded values in any case, since their changes
// may be part of a snapshot already. REQUIRES: the connection does not enforce foreign keys: rows
// that the original deleted or changed for their sake are among the changes.
absl::Status ApplyChanges(SqliteConnection* connection, std::string_view changes);

}  // namespace meshwright::db

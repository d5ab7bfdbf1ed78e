// SqliteConnection, SqliteStatement and SqliteTransaction are a thin RAII layer over SQLite.
//
// Errors come back as absl::Status: Unavailable for transient ones (locked, disk full, read-only,
// I/O), FailedPrecondition for a file that is not a database, AlreadyExists for a unique value that
// is taken, and DataLoss for a damaged file.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace meshwright::db {

// The path of an in-memory database.
inline constexpr char kInMemory[] = ":memory:";

class SqliteConnection;

// One prepared statement: call Bind, and then Step until it returns false. The connection keeps the
// compiled form for the next statement with the same text. REQUIRES: the statement is destroyed
// before its connection.
class SqliteStatement {
 public:
  // Parameters are bound from position 1 in the order of the calls.
  SqliteStatement& Bind(int64_t value);
  SqliteStatement& Bind(double value);
  SqliteStatement& Bind(std::string_view value);
  SqliteStatement& BindNull();
  template <typename T>
  SqliteStatement& Bind(const std::optional<T>& value) {
    return value ? Bind(*value) : BindNull();
  }

  // Returns true when there is a row to read.
  absl::StatusOr<bool> Step();
  // Runs a statement without rows.
  absl::Status Run();

  int64_t Int(int column) const;
  double Real(int column) const;
  std::string Text(int column) const;
  bool IsNull(int column) const;

 private:
  friend class SqliteConnection;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  // Compiled statements of one text that are not in use.
  using Idle = std::vector<std::unique_ptr<sqlite3_stmt, Finalize>>;
  struct GiveBack {
    Idle* idle;  // null for a statement that is not kept for reuse
    void operator()(sqlite3_stmt* statement) const;
  };
  SqliteStatement(SqliteConnection* connection, sqlite3_stmt* statement, Idle* idle)
      : connection_(connection), statement_(statement, GiveBack{idle}) {}
  void Note(int code);

  SqliteConnection* connection_;
  std::unique_ptr<sqlite3_stmt, GiveBack> statement_;
  int bound_ = 0;
  int bind_error_ = SQLITE_OK;
};

// Not thread-safe: callers hold a lock of their own.
class SqliteConnection {
 public:
  enum class Mode {
    kReadWriteCreate,  // creates a missing file, accessible only to the owner of the process
    kReadOnly,         // needs to write a -shm file if the file is in WAL mode
    // Writes nothing and takes no lock. Only for a file that nobody writes. Ignores changes that
    // are still in the WAL.
    kImmutable,
  };

  static absl::StatusOr<std::unique_ptr<SqliteConnection>> Open(const std::string& path, Mode mode);

  absl::StatusOr<SqliteStatement> Prepare(std::string_view sql);
  // Prepares a text that is unlikely to be used again, without keeping its compiled form.
  absl::StatusOr<SqliteStatement> PrepareOnce(std::string_view sql);
  // Runs statements without parameters; rows are ignored.
  absl::Status Execute(const std::string& sql);
  // Ends, with an error, the statements that other threads now run on this connection.
  void Interrupt();
  // Runs one statement without parameters or rows, which stays compiled.
  absl::Status Run(std::string_view sql);
  // Each returns the first column of the first row. REQUIRES: the statement has a row.
  absl::StatusOr<int64_t> QueryInt(std::string_view sql);
  absl::StatusOr<std::string> QueryText(std::string_view sql);

  // Makes `function` callable in SQL, with `arguments` arguments. REQUIRES: `function` is
  // deterministic, since SQLite may cache its results.
  using Function = void (*)(sqlite3_context* context, int count, sqlite3_value** arguments);
  absl::Status AddFunction(const char* name, int arguments, Function function);

  // Writes a copy of the database to `path`, which only the owner can read. The file appears
  // complete or not at all, and replaces an existing file.
  absl::Status CopyTo(const std::string& path);
  // Replaces the contents of `to` by this database's, in one transaction. Copies one moment, even
  // if others write meanwhile; with an active transaction, the moment that the transaction sees.
  absl::Status CopyInto(const SqliteConnection& to);

  int64_t LastInsertId() const;
  // Returns the number of rows that the last statement changed.
  int64_t Changes() const;
  const std::string& path() const { return path_; }
  // For those of SQLite's interfaces that this class does not have.
  sqlite3* handle() const { return db_.get(); }

  // Returns whether a transaction is active; false once an error has ended it.
  bool InTransaction() const;

  // Returns the last error of this connection; `code` is what SQLite returned.
  absl::Status Error(int code) const;

 private:
  friend class SqliteTransaction;
  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  struct Close {
    void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
  };
  SqliteConnection(std::string path, sqlite3* db) : path_(std::move(path)), db_(db) {}
  absl::StatusOr<SqliteStatement> Compile(std::string_view sql, SqliteStatement::Idle* idle);

  std::string path_;
  std::unique_ptr<sqlite3, Close> db_;
  std::unordered_map<std::string, SqliteStatement::Idle, TextHash, std::equal_to<>> idle_;
  int transactions_ = 0;  // active transactions, nested
};

// SqliteTransaction begins a transaction. Its destructor rolls the transaction back unless Commit()
// succeeded. A nested transaction is a savepoint: it can be rolled back alone, and is stored once
// the outer transaction is committed.
class SqliteTransaction {
 public:
  // Returns Unavailable if an error has ended the outer transaction.
  static absl::StatusOr<SqliteTransaction> Begin(SqliteConnection* connection);
  SqliteTransaction(SqliteTransaction&& other) noexcept
      : connection_(std::exchange(other.connection_, nullptr)), depth_(other.depth_) {}
  SqliteTransaction& operator=(SqliteTransaction&&) = delete;
  ~SqliteTransaction();

  absl::Status Commit();

 private:
  SqliteTransaction(SqliteConnection* connection, int depth)
      : connection_(connection), depth_(depth) {}
  void End() { connection_->transactions_ = depth_; }

  SqliteConnection* connection_;
  int depth_;  // number of outer transactions
};

// Makes the database at `path` and the files beside it accessible only to their owner.
void KeepToOwner(const std::string& path);

}  // namespace meshwright::db

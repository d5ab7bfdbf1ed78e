#include "db/sqlite.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "base/text/status_macros.h"

namespace meshwright::db {
namespace {

// Below the time within which a service must stop.
constexpr int kBusyTimeoutMs = 2000;
// Most statement texts that stay compiled: more than this project has.
constexpr size_t kMostTexts = 128;
// Lookaside buffers for the values that a writing connection keeps between statements: with
// SQLite's default of 40, most would be allocated anew each time.
constexpr int kLookasideSlots = 500;
constexpr int kLookasideSlotBytes = 1200;
constexpr mode_t kOwnerOnly = 0600;

// SQLite gives the files beside a database the permissions of the database itself. A file that
// can't be made is left for SQLite to report.
void MakeForOwner(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kOwnerOnly);
  if (fd >= 0) close(fd);
}

// SQLite counts its allocations under a global lock, unless told not to before anything else;
// nobody reads the count.
void CountNoAllocations() {
  static const int kOnce = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  static_cast<void>(kOnce);
}

// Escapes `path` for an SQLite URI.
std::string EscapePath(const std::string& path) {
  std::string escaped;
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#') {
      absl::StrAppend(&escaped, "%", absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad2));
    } else {
      escaped += c;
    }
  }
  return escaped;
}

absl::Status CantWrite(const std::string& path, absl::string_view why) {
  return absl::UnavailableError(absl::StrCat("can't write ", path, ": ", why));
}

// A new name is durable only once its folder is synced.
absl::Status SyncFolderOf(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const int fd = open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return CantWrite(path, std::strerror(errno));
  const bool synced = fsync(fd) == 0;
  const int error = errno;
  close(fd);
  return synced ? absl::OkStatus() : CantWrite(path, std::strerror(error));
}

absl::Status ErrorEnded(const SqliteConnection& connection) {
  return absl::UnavailableError(
      absl::StrCat("database ", connection.path(), ": an error has ended the transaction"));
}

absl::StatusCode CodeOf(int extended) {
  if (extended == SQLITE_CONSTRAINT_UNIQUE || extended == SQLITE_CONSTRAINT_PRIMARYKEY) {
    return absl::StatusCode::kAlreadyExists;
  }
  switch (extended & 0xff) {
    case SQLITE_NOTADB:
      return absl::StatusCode::kFailedPrecondition;
    case SQLITE_CORRUPT:
      return absl::StatusCode::kDataLoss;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_FULL:
    case SQLITE_READONLY:
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_NOMEM:
      return absl::StatusCode::kUnavailable;
    default:
      return absl::StatusCode::kInternal;
  }
}

}  // namespace

void SqliteStatement::Note(int code) {
  if (bind_error_ == SQLITE_OK) bind_error_ = code;
}

SqliteStatement& SqliteStatement::Bind(int64_t value) {
  Note(sqlite3_bind_int64(statement_.get(), ++bound_, value));
  return *this;
}

SqliteStatement& SqliteStatement::Bind(double value) {
  Note(sqlite3_bind_double(statement_.get(), ++bound_, value));
  return *this;
}

SqliteStatement& SqliteStatement::Bind(std::string_view value) {
  // A null data pointer would bind NULL instead of an empty text.
  const char* data = value.data() == nullptr ? "" : value.data();
  Note(sqlite3_bind_text64(statement_.get(), ++bound_, data, value.size(), SQLITE_TRANSIENT,
                           SQLITE_UTF8));
  return *this;
}

SqliteStatement& SqliteStatement::BindNull() {
  Note(sqlite3_bind_null(statement_.get(), ++bound_));
  return *this;
}

absl::StatusOr<bool> SqliteStatement::Step() {
  if (bind_error_ != SQLITE_OK) return connection_->Error(bind_error_);
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return connection_->Error(code);
}

absl::Status SqliteStatement::Run() { return Step().status(); }

int64_t SqliteStatement::Int(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

double SqliteStatement::Real(int column) const {
  return sqlite3_column_double(statement_.get(), column);
}

std::string SqliteStatement::Text(int column) const {
  const unsigned char* text = sqlite3_column_text(statement_.get(), column);
  if (text == nullptr) return "";
  return std::string(reinterpret_cast<const char*>(text),
                     static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column)));
}

bool SqliteStatement::IsNull(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

void KeepToOwner(const std::string& path) {
  for (const char* suffix : {"", "-wal", "-shm"}) {
    const std::string name = path + suffix;
    struct stat file = {};
    // Not through a descriptor: closing one releases every lock that this process has on the file.
    if (stat(name.c_str(), &file) == 0 && S_ISREG(file.st_mode)) chmod(name.c_str(), kOwnerOnly);
  }
}

absl::StatusOr<std::unique_ptr<SqliteConnection>> SqliteConnection::Open(const std::string& path,
                                                                         Mode mode) {
  CountNoAllocations();
  sqlite3* db = nullptr;
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_READONLY;
  std::string name = path;
  if (mode == Mode::kReadWriteCreate) {
    flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    if (path != kInMemory) MakeForOwner(path);
  } else if (mode == Mode::kImmutable) {
    flags |= SQLITE_OPEN_URI;
    name = absl::StrCat("file:", EscapePath(path), "?immutable=1");
  }
  const int code = sqlite3_open_v2(name.c_str(), &db, flags, nullptr);
  std::unique_ptr<SqliteConnection> connection(new SqliteConnection(path, db));
  if (code != SQLITE_OK) return connection->Error(code);
  if (mode == Mode::kReadWriteCreate) {
    // On failure, SQLite keeps its default buffers.
    sqlite3_db_config(db, SQLITE_DBCONFIG_LOOKASIDE, nullptr, kLookasideSlotBytes, kLookasideSlots);
  }
  sqlite3_extended_result_codes(db, 1);
  sqlite3_busy_timeout(db, kBusyTimeoutMs);
  return connection;
}

void SqliteStatement::GiveBack::operator()(sqlite3_stmt* statement) const {
  if (statement == nullptr) return;
  // A statement that is not reset would keep the read lock.
  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);
  std::unique_ptr<sqlite3_stmt, Finalize> over(statement);
  if (idle != nullptr) idle->push_back(std::move(over));
}

absl::StatusOr<SqliteStatement> SqliteConnection::Prepare(std::string_view sql) {
  auto known = idle_.find(sql);
  if (known == idle_.end()) {
    if (idle_.size() >= kMostTexts) return PrepareOnce(sql);
    known = idle_.try_emplace(std::string(sql)).first;
  }
  SqliteStatement::Idle& idle = known->second;
  if (idle.empty()) return Compile(sql, &idle);
  SqliteStatement again(this, idle.back().release(), &idle);
  idle.pop_back();
  return again;
}

absl::StatusOr<SqliteStatement> SqliteConnection::PrepareOnce(std::string_view sql) {
  return Compile(sql, nullptr);
}

absl::StatusOr<SqliteStatement> SqliteConnection::Compile(std::string_view sql,
                                                          SqliteStatement::Idle* idle) {
  sqlite3_stmt* statement = nullptr;
  const int code =
      sqlite3_prepare_v2(db_.get(), sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  if (code != SQLITE_OK) return Error(code);
  return SqliteStatement(this, statement, idle);
}

absl::Status SqliteConnection::AddFunction(const char* name, int arguments, Function function) {
  const int code =
      sqlite3_create_function_v2(db_.get(), name, arguments, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
                                 nullptr, function, nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? absl::OkStatus() : Error(code);
}

absl::Status SqliteConnection::Execute(const std::string& sql) {
  const int code = sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? absl::OkStatus() : Error(code);
}

void SqliteConnection::Interrupt() { sqlite3_interrupt(db_.get()); }

absl::Status SqliteConnection::Run(std::string_view sql) {
  ASSIGN_OR_RETURN(SqliteStatement statement, Prepare(sql));
  return statement.Run();
}

absl::StatusOr<int64_t> SqliteConnection::QueryInt(std::string_view sql) {
  ASSIGN_OR_RETURN(SqliteStatement statement, Prepare(sql));
  RETURN_IF_ERROR(statement.Step().status());
  return statement.Int(0);
}

absl::StatusOr<std::string> SqliteConnection::QueryText(std::string_view sql) {
  ASSIGN_OR_RETURN(SqliteStatement statement, Prepare(sql));
  RETURN_IF_ERROR(statement.Step().status());
  return statement.Text(0);
}

absl::Status SqliteConnection::CopyTo(const std::string& path) {
  const std::string temporary = absl::StrCat(path, ".tmp");
  unlink(temporary.c_str());
  absl::Cleanup remove = [&] { unlink(temporary.c_str()); };
  {
    ASSIGN_OR_RETURN(const std::unique_ptr<SqliteConnection> copy,
                     Open(temporary, Mode::kReadWriteCreate));
    RETURN_IF_ERROR(CopyInto(*copy));
  }
  if (rename(temporary.c_str(), path.c_str()) != 0) return CantWrite(path, std::strerror(errno));
  std::move(remove).Cancel();
  return SyncFolderOf(path);
}

absl::Status SqliteConnection::CopyInto(const SqliteConnection& to) {
  sqlite3_backup* backup = sqlite3_backup_init(to.db_.get(), "main", db_.get(), "main");
  if (backup == nullptr) return to.Error(sqlite3_errcode(to.db_.get()));
  constexpr int kAllPages = -1;
  const int step = sqlite3_backup_step(backup, kAllPages);
  const int finish = sqlite3_backup_finish(backup);
  if (finish != SQLITE_OK) return to.Error(finish);
  return step == SQLITE_DONE ? absl::OkStatus() : CantWrite(to.path_, sqlite3_errstr(step));
}

int64_t SqliteConnection::LastInsertId() const { return sqlite3_last_insert_rowid(db_.get()); }

int64_t SqliteConnection::Changes() const { return sqlite3_changes64(db_.get()); }

absl::Status SqliteConnection::Error(int code) const {
  const int extended = db_ == nullptr ? code : sqlite3_extended_errcode(db_.get());
  const char* text = db_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(db_.get());
  if ((extended & 0xff) == SQLITE_NOTADB) {
    return absl::FailedPreconditionError(absl::StrCat(path_, " is not an SQLite database"));
  }
  return absl::Status(CodeOf(extended), absl::StrCat("database ", path_, ": ", text));
}

bool SqliteConnection::InTransaction() const { return sqlite3_get_autocommit(db_.get()) == 0; }

absl::StatusOr<SqliteTransaction> SqliteTransaction::Begin(SqliteConnection* connection) {
  const int depth = connection->transactions_;
  if (depth == 0) {
    // Immediate takes the write lock now, so that no later statement fails to get it.
    RETURN_IF_ERROR(connection->Run("BEGIN IMMEDIATE"));
  } else if (connection->InTransaction()) {
    RETURN_IF_ERROR(connection->Run(absl::StrCat("SAVEPOINT part", depth)));
  } else {
    return ErrorEnded(*connection);
  }
  connection->transactions_ = depth + 1;
  return SqliteTransaction(connection, depth);
}

SqliteTransaction::~SqliteTransaction() {
  if (connection_ == nullptr) return;
  // Fails without effect where an error (disk full) already rolled back.
  const std::string undo =
      depth_ == 0 ? "ROLLBACK" : absl::StrCat("ROLLBACK TO part", depth_, "; RELEASE part", depth_);
  connection_->Execute(undo).IgnoreError();
  End();
}

absl::Status SqliteTransaction::Commit() {
  if (!connection_->InTransaction()) return ErrorEnded(*connection_);
  RETURN_IF_ERROR(connection_->Run(depth_ == 0 ? "COMMIT" : absl::StrCat("RELEASE part", depth_)));
  End();
  connection_ = nullptr;
  return absl::OkStatus();
}

}  // namespace meshwright::db

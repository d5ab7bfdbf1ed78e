#include "db/token_store.h"

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "base/text/nearest.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "db/database.h"
#include "db/migrations.h"
#include "db/row_codec.h"

namespace meshwright::db {

template <planner::ConstOr<TokenRecord> Token, typename Visitor>
void VisitFields(Token& token, Visitor& visit) {
  visit("name", token.name);
  visit("hash", token.hash);
  visit("role", token.role, kRoleNames);
  visit("agent", token.agent);
  visit("create_time_us", token.create_time);
  visit("expire_time_us", token.expire_time);
  visit(ReadOnly("revoke_time_us"), token.revoke_time);
}

namespace {

// Length of the hash prefix that is indexed. Only this prefix affects how long a look-up takes.
constexpr size_t kHashStart = 16;

}  // namespace

absl::StatusOr<std::unique_ptr<TokenStore>> TokenStore::Open(const std::string& path) {
  {
    ASSIGN_OR_RETURN(std::unique_ptr<SqliteConnection> connection,
                     SqliteConnection::Open(path, SqliteConnection::Mode::kReadWriteCreate));
    ASSIGN_OR_RETURN(const int64_t version, SchemaVersion(connection.get()));
    if (version == LatestSchemaVersion()) {
      RETURN_IF_ERROR(connection->Execute("PRAGMA synchronous = FULL"));
      return absl::WrapUnique(new TokenStore(StoreLock(), std::move(connection)));
    }
  }
  ASSIGN_OR_RETURN(StoreLock lock, StoreLock::Take(path));
  ASSIGN_OR_RETURN(std::unique_ptr<SqliteConnection> connection, OpenDatabase(path));
  return absl::WrapUnique(new TokenStore(std::move(lock), std::move(connection)));
}

absl::StatusOr<std::vector<TokenRecord>> TokenStore::Select(std::string_view rest,
                                                            std::string_view value) {
  static const auto* const kColumns = new std::string(ColumnsOf<TokenRecord>(kRead));
  ASSIGN_OR_RETURN(SqliteStatement select,
                   connection_->Prepare(
                       absl::StrCat("SELECT ", *kColumns, " FROM tokens WHERE ", AbslView(rest))));
  select.Bind(value);
  std::vector<TokenRecord> tokens;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, select.Step());
    if (!row) return tokens;
    tokens.push_back(ReadRow<TokenRecord>(select));
  }
}

absl::Status TokenStore::Add(const TokenRecord& token) {
  absl::MutexLock lock(&mutex_);
  absl::Status status = InsertRow(connection_.get(), "tokens", token);
  if (!absl::IsAlreadyExists(status)) return status;
  return absl::AlreadyExistsError(absl::StrCat("a token named ", token.name, " exists"));
}

absl::StatusOr<std::string> TokenStore::FreeName(const std::string& stem) {
  absl::MutexLock lock(&mutex_);
  std::string name = stem;
  for (int64_t number = 2;; ++number) {
    ASSIGN_OR_RETURN(const std::vector<TokenRecord> taken, Select("name = ?", name));
    if (taken.empty()) return name;
    name = absl::StrCat(stem, "-", number);
  }
}

absl::StatusOr<std::vector<TokenRecord>> TokenStore::List() {
  absl::MutexLock lock(&mutex_);
  return Select("name >= ? ORDER BY name", "");
}

absl::StatusOr<std::optional<TokenRecord>> TokenStore::Find(std::string_view hash) {
  absl::MutexLock lock(&mutex_);
  ASSIGN_OR_RETURN(const std::vector<TokenRecord> alike,
                   Select("substr(hash, 1, 16) = ?", hash.substr(0, kHashStart)));
  for (const TokenRecord& token : alike) {
    if (SameHash(token.hash, hash)) return token;
  }
  return std::nullopt;
}

absl::Status TokenStore::Revoke(const std::string& name, absl::Time time) {
  absl::MutexLock lock(&mutex_);
  ASSIGN_OR_RETURN(SqliteTransaction transaction, SqliteTransaction::Begin(connection_.get()));
  ASSIGN_OR_RETURN(const std::vector<TokenRecord> found, Select("name = ?", name));
  if (found.empty()) {
    std::vector<std::string> known;
    ASSIGN_OR_RETURN(const std::vector<TokenRecord> tokens, Select("name >= ? ORDER BY name", ""));
    known.reserve(tokens.size());
    for (const TokenRecord& token : tokens) known.push_back(token.name);
    if (known.empty()) {
      return absl::NotFoundError(absl::StrCat("token '", name, "' is not known: there are none"));
    }
    return UnknownName("token", name, known);
  }
  if (found.front().revoke_time) {
    return absl::FailedPreconditionError(absl::StrCat("token ", name, " was revoked before"));
  }
  ASSIGN_OR_RETURN(SqliteStatement update,
                   connection_->Prepare("UPDATE tokens SET revoke_time_us = ? WHERE name = ?"));
  update.Bind(absl::ToUnixMicros(time)).Bind(std::string_view(name));
  RETURN_IF_ERROR(update.Run());
  return transaction.Commit();
}

}  // namespace meshwright::db

// TokenStore reads and changes the tokens in a server's database while the server runs.
//
// Callers may rely on: once Add() or Revoke() has returned OK, the change is durable, and every
// other TokenStore of the same file, in this process or another, sees it. All functions may be
// called from any thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "db/sqlite.h"
#include "db/store_lock.h"
#include "db/token.h"

namespace meshwright::db {

class TokenStore {
 public:
  // Opens the file, even while a server uses it. A new file is first created, and a file with an
  // older schema is first migrated, as by OpenDatabase(). Returns FailedPrecondition if a file that
  // has to be created or migrated is in use by a server.
  static absl::StatusOr<std::unique_ptr<TokenStore>> Open(const std::string& path);

  // Adds a token. Returns AlreadyExists if the name is taken, even by a token that is no longer
  // valid.
  absl::Status Add(const TokenRecord& token);
  // Returns `stem`, or the first of stem-2, stem-3, … that no token has.
  absl::StatusOr<std::string> FreeName(const std::string& stem);
  // Lists all tokens by name.
  absl::StatusOr<std::vector<TokenRecord>> List();
  // Returns the token with this hash, whether it is still valid or not.
  absl::StatusOr<std::optional<TokenRecord>> Find(std::string_view hash);
  // Revokes a token. Returns NotFound, with the nearest names, if no token has this name, and
  // FailedPrecondition if it is already revoked.
  absl::Status Revoke(const std::string& name, absl::Time time);

 private:
  TokenStore(StoreLock lock, std::unique_ptr<SqliteConnection> connection)
      : lock_(std::move(lock)), connection_(std::move(connection)) {}

  absl::StatusOr<std::vector<TokenRecord>> Select(std::string_view rest, std::string_view value)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  absl::Mutex mutex_;
  // Taken only if the file had to be created or migrated. Closing the lock's descriptor releases
  // the connection's POSIX locks on the file too. The connection is therefore destroyed first.
  StoreLock lock_;
  const std::unique_ptr<SqliteConnection> connection_ ABSL_PT_GUARDED_BY(mutex_);
};

}  // namespace meshwright::db

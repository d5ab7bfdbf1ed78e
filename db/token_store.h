// TokenStore reads and changes the tokens in a server's database while the server runs.
//
// Callers may rely on: what Add() and Revoke() reported as done is durable, and every other store
// of the same file, in this process or another, sees it at once. All functions may be called from
// any thread.
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
  // Opens the file, also while a server uses it. A file that is new or has an older schema is first
  // created or migrated as by OpenDatabase(): FailedPrecondition where a server uses it meanwhile.
  static absl::StatusOr<std::unique_ptr<TokenStore>> Open(const std::string& path);

  // AlreadyExists where the name is taken, also by a token that is no longer valid.
  absl::Status Add(const TokenRecord& token);
  // Returns `stem`, or the first of stem-2, stem-3, … that no token has.
  absl::StatusOr<std::string> FreeName(const std::string& stem);
  // By name.
  absl::StatusOr<std::vector<TokenRecord>> List();
  // Returns the token of this hash, valid or not.
  absl::StatusOr<std::optional<TokenRecord>> Find(std::string_view hash);
  // NotFound, with the nearest names, where there is none; FailedPrecondition where it is already
  // revoked.
  absl::Status Revoke(const std::string& name, absl::Time time);

 private:
  TokenStore(StoreLock lock, std::unique_ptr<SqliteConnection> connection)
      : lock_(std::move(lock)), connection_(std::move(connection)) {}

  absl::StatusOr<std::vector<TokenRecord>> Select(std::string_view rest, std::string_view value)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  absl::Mutex mutex_;
  // Taken where the file had to change. Closing its descriptor ends the locks of the connection,
  // which is therefore destroyed first.
  StoreLock lock_;
  const std::unique_ptr<SqliteConnection> connection_ ABSL_PT_GUARDED_BY(mutex_);
};

}  // namespace meshwright::db

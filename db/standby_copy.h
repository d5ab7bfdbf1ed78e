// StandbyCopy is the database file of a standby: a copy of another server's store that follows it
// transaction by transaction.
//
// Callers may rely on:
// - The file always holds one whole moment of the store, with its place in the log of that store.
//   Each call stores everything durably or nothing.
// - No server opens a copy as its store (SqliteSweepStore::Open) before TakeOver().
// - A database that a server decided on is never lost to a snapshot: it is first copied to
//   KeptBeforeFollowing().
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "db/sqlite.h"

namespace meshwright::db {

// Where a copy stands in the transactions of the server that it follows.
struct CopyPlace {
  std::string log_id;  // of the log that numbers the transactions; empty if the copy has no place
  int64_t number = 0;  // of the last transaction that the copy has

  friend bool operator==(const CopyPlace&, const CopyPlace&) = default;
};

struct StoreIdentity {
  std::string id;     // empty if the file has no store yet
  int64_t epoch = 0;  // 0 if the file has no store yet
};

class StandbyCopy {
 public:
  // Opens or creates the file. Returns FailedPrecondition for a file of another application or of a
  // newer schema. REQUIRES: the caller holds the StoreLock of `path`.
  static absl::StatusOr<std::unique_ptr<StandbyCopy>> Open(const std::string& path);

  const std::string& path() const { return connection_->path(); }
  const StoreIdentity& identity() const { return identity_; }
  const CopyPlace& place() const { return place_; }
  // Returns whether the file holds a copy of the server that it follows, so that TakeOver() is
  // possible. A database that a server decided on is none: it may lack what was stored since.
  bool complete() const { return !identity_.id.empty() && !place_.log_id.empty(); }

  // Returns FailedPrecondition if the file can't follow a server of this store and epoch: the file
  // has another store or a later epoch.
  absl::Status CheckMayFollow(const StoreIdentity& server) const;

  // Returns the file into which the next snapshot is received. It stands beside the copy.
  std::string SnapshotPath() const;
  // Replaces all contents by the snapshot in SnapshotPath(), and deletes that file. Returns
  // FailedPrecondition if CheckMayFollow() does for the snapshot, or if the snapshot's schema is
  // newer than this program's.
  absl::Status TakeSnapshot(const CopyPlace& place);
  // Makes the changes of transaction `number`. Returns DataLoss if they don't follow the copy's
  // place or don't fit its rows; only a snapshot helps then.
  absl::Status Apply(int64_t number, std::string_view changes);

  // Makes the copy a store that a server may open, with the next epoch, and returns that epoch.
  // Sequences of later events are above those that the first server may have given. Returns
  // FailedPrecondition unless complete().
  absl::StatusOr<int64_t> TakeOver();

 private:
  explicit StandbyCopy(std::unique_ptr<SqliteConnection> connection)
      : connection_(std::move(connection)) {}
  absl::Status ReadIdentity();
  // Keeps a copy of a database that a server decided on.
  absl::Status KeepDecided() const;

  const std::unique_ptr<SqliteConnection> connection_;
  StoreIdentity identity_;
  CopyPlace place_;
};

// Returns where a database that a server decided on is kept once it follows another server.
std::string KeptBeforeFollowing(const std::string& path, int64_t epoch);

// Returns FailedPrecondition if the database is a copy that follows a server.
absl::Status CheckDecides(SqliteConnection* connection);

}  // namespace meshwright::db

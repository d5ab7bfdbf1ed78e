// DamageSearch checks a database file that is in use. It runs CheckIsWhole() on a connection and a
// thread of its own. Its destructor ends a search that still runs.
#pragma once

#include <memory>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "db/sqlite.h"

namespace meshwright::db {

class DamageSearch {
 public:
  // Starts the search. Returns Unavailable for a file that can't be read.
  static absl::StatusOr<std::unique_ptr<DamageSearch>> Start(const std::string& path);
  ~DamageSearch();
  DamageSearch(const DamageSearch&) = delete;
  DamageSearch& operator=(const DamageSearch&) = delete;

  bool ended() const;
  // Returns the finding of a search that has ended: OK for a whole file, the DataLoss of
  // CheckIsWhole() for a damaged one, or the error that stopped the check.
  absl::Status found() const;

 private:
  explicit DamageSearch(std::unique_ptr<SqliteConnection> connection);
  void Run();

  const std::unique_ptr<SqliteConnection> connection_;
  mutable absl::Mutex mutex_;
  absl::Status found_ ABSL_GUARDED_BY(mutex_);
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace meshwright::db

// A look through a database file while others work on it: as CheckIsWhole(), on a connection and a
// thread of its own. It ends with the object, where it has not come to its end by then.
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
  // Unavailable for a file that can't be read.
  static absl::StatusOr<std::unique_ptr<DamageSearch>> Start(const std::string& path);
  ~DamageSearch();
  DamageSearch(const DamageSearch&) = delete;
  DamageSearch& operator=(const DamageSearch&) = delete;

  bool ended() const;
  // Of a search that has ended: OK for a whole file, DataLoss as CheckIsWhole() says it for one
  // that is damaged, and why it could not be looked over.
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

#include "db/damage_search.h"

#include <chrono>
#include <utility>

#include "absl/memory/memory.h"
#include "base/text/status_macros.h"
#include "db/integrity.h"

namespace meshwright::db {

absl::StatusOr<std::unique_ptr<DamageSearch>> DamageSearch::Start(const std::string& path) {
  ASSIGN_OR_RETURN(std::unique_ptr<SqliteConnection> connection,
                   SqliteConnection::Open(path, SqliteConnection::Mode::kReadOnly));
  return absl::WrapUnique(new DamageSearch(std::move(connection)));
}

DamageSearch::DamageSearch(std::unique_ptr<SqliteConnection> connection)
    : connection_(std::move(connection)), thread_([this] { Run(); }) {}

DamageSearch::~DamageSearch() {
  while (!ended()) {
    // Repeated, since an interruption has no effect on a statement that has not begun yet.
    connection_->Interrupt();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  thread_.join();
}

void DamageSearch::Run() {
  absl::Status status = CheckIsWhole(connection_.get());
  absl::MutexLock lock(&mutex_);
  found_ = std::move(status);
  ended_ = true;
}

absl::Status DamageSearch::found() const {
  absl::MutexLock lock(&mutex_);
  return found_;
}

bool DamageSearch::ended() const {
  absl::MutexLock lock(&mutex_);
  return ended_;
}

}  // namespace meshwright::db

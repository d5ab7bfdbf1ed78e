// AskStream answers one Ask call: it sends the progress of a search from time to time, and the
// answer at the end.
#pragma once

#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/system/monotonic_time.h"
#include "meshwright/v1/planner.grpc.pb.h"

namespace meshwright::server {

// The least time between two progress messages.
inline constexpr absl::Duration kBetweenProgress = absl::Milliseconds(100);

// The stream deletes itself when the call is over. Callers may rely on: the stream does not delete
// itself before End() was called.
class AskStream final : public grpc::ServerWriteReactor<v1::AskResponse> {
 public:
  explicit AskStream(MonotonicClock now) : now_(std::move(now)) {}

  // Sends progress. Drops it if the previous message is still being sent or was sent less than
  // kBetweenProgress ago, so that a slow reader does not hold up the search.
  void Tell(const v1::Progress& progress);
  // Ends the call after the message that is being sent: with `answer` if `status` is OK, and
  // otherwise with that error. REQUIRES: called once.
  void End(const absl::Status& status, v1::AskResponse answer);

  void OnWriteDone(bool ok) override;
  void OnDone() override;

 private:
  // Sends the answer, and then the status.
  void GoOnLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const MonotonicClock now_;
  absl::Mutex mutex_;
  v1::AskResponse sending_;  // belongs to gRPC while writing_
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  std::optional<v1::AskResponse> answer_ ABSL_GUARDED_BY(mutex_);  // that is not sent yet
  std::optional<MonotonicTime> told_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace meshwright::server

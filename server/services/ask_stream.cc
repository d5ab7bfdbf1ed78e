#include "server/services/ask_stream.h"

#include <utility>

#include "server/calls/call_status.h"

namespace meshwright::server {

void AskStream::Tell(const v1::Progress& progress) {
  absl::MutexLock lock(&mutex_);
  const MonotonicTime now = now_();
  if (writing_ || ended_ || (told_ && now < *told_ + kBetweenProgress)) return;
  told_ = now;
  *sending_.mutable_progress() = progress;
  writing_ = true;
  StartWrite(&sending_);
}

void AskStream::End(const absl::Status& status, v1::AskResponse answer) {
  absl::MutexLock lock(&mutex_);
  ended_ = true;
  status_ = status;
  if (status.ok()) answer_ = std::move(answer);
  if (!writing_) GoOnLocked();
}

void AskStream::OnWriteDone(bool /*ok*/) {
  absl::MutexLock lock(&mutex_);
  writing_ = false;
  if (ended_) GoOnLocked();
}

void AskStream::OnDone() {
  // gRPC may be done before the thread that ended the call has released the lock.
  { const absl::MutexLock lock(&mutex_); }
  delete this;
}

// A client that is gone gets neither message nor status, and gRPC reports this to nobody else.
//
// StartWriteAndFinish() would do both at once. But over gRPC's in-process channel (1.51), through
// which calls over HTTP come, it loses the message if the client is not reading at that moment, and
// the call then never ends.
void AskStream::GoOnLocked() {
  if (!answer_) return Finish(Reply(status_));
  sending_ = *std::move(answer_);
  answer_.reset();
  writing_ = true;
  StartWrite(&sending_);
}

}  // namespace meshwright::server

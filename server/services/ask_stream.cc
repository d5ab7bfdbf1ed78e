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
  answer_ = std::move(answer);
  if (!writing_) FinishLocked();
}

void AskStream::OnWriteDone(bool /*ok*/) {
  absl::MutexLock lock(&mutex_);
  writing_ = false;
  if (ended_) FinishLocked();
}

void AskStream::OnDone() {
  // gRPC may be done before the thread that ended the call has released the lock.
  { const absl::MutexLock lock(&mutex_); }
  delete this;
}

// A client that is gone gets neither message, and gRPC reports this to nobody else.
void AskStream::FinishLocked() {
  if (!status_.ok()) return Finish(Reply(status_));
  sending_ = std::move(answer_);
  StartWriteAndFinish(&sending_, grpc::WriteOptions(), grpc::Status::OK);
}

}  // namespace meshwright::server

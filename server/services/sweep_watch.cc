#include "server/services/sweep_watch.h"

#include <utility>
#include <vector>

#include "proto/rpc_status.h"
#include "server/calls/call_status.h"
#include "server/sweeps/sweep_messages.h"

namespace meshwright::server {
namespace {

constexpr int32_t kBatch = 100;

bool EndsTheSweep(const db::EventRecord& event) {
  return event.kind == "sweep_finished" || event.kind == "sweep_cancelled";
}

}  // namespace

SweepWatch::SweepWatch(const WatchParts& parts, const db::SweepRecord& sweep,
                       int64_t after_sequence, StreamLease lease)
    : parts_(parts),
      lease_(std::move(lease)),
      sweep_id_(sweep.id),
      sweep_name_(sweep.name),
      last_sequence_(after_sequence),
      next_check_(parts.now() + kCheckShare * parts.heartbeat) {
  std::unique_ptr<EventHub::Subscription> subscription =
      parts_.hub->Subscribe(sweep_id_, [this] { Pump(); });
  absl::MutexLock lock(&mutex_);
  subscription_ = std::move(subscription);
  PumpLocked();
}

void SweepWatch::Pump() {
  absl::MutexLock lock(&mutex_);
  PumpLocked();
}

void SweepWatch::Add(const db::EventRecord& event) {
  if (event.sequence <= last_sequence_) return;
  last_sequence_ = event.sequence;
  next_.push_back(ToWire(event, sweep_name_));
  is_last_ = is_last_ || EndsTheSweep(event);
}

void SweepWatch::LoadFromStore() {
  // The sweep is read first: events between the two reads are then found, not missed.
  const absl::StatusOr<db::SweepRecord> sweep = parts_.store->GetSweepById(sweep_id_);
  const absl::StatusOr<std::vector<db::EventRecord>> events =
      parts_.store->ListEvents(sweep_id_, last_sequence_, kBatch);
  if (absl::IsNotFound(sweep.status())) {
    End(grpc::Status(grpc::StatusCode::NOT_FOUND, "sweep " + sweep_name_ + " was deleted"));
    return;
  }
  if (!sweep.ok() || !events.ok()) {
    End(ToGrpcStatus(sweep.ok() ? events.status() : sweep.status()));
    return;
  }
  for (const db::EventRecord& event : *events) Add(event);
  reads_store_ = events->size() == static_cast<size_t>(kBatch);
  if (!reads_store_ && db::HasEnded(sweep->state)) is_last_ = true;
}

void SweepWatch::LoadFromHub() {
  const EventHub::Batch batch = subscription_->Take();
  if (batch.deleted) {
    End(grpc::Status(grpc::StatusCode::NOT_FOUND, "sweep " + sweep_name_ + " was deleted"));
    return;
  }
  if (batch.missed) {
    reads_store_ = true;
    return;
  }
  for (const EventHub::Event& event : batch.events) Add(*event);
  if (is_last_) return;
  for (const EventHub::Event& event : batch.progress) next_.push_back(ToWire(*event, sweep_name_));
}

void SweepWatch::Load() {
  while (next_.empty() && reads_store_ && !is_last_ && !ended_) LoadFromStore();
  if (next_.empty() && !is_last_ && !ended_) LoadFromHub();
  if (next_.empty() && reads_store_ && !is_last_ && !ended_) Load();
}

void SweepWatch::EndWhereDue() {
  if (parts_.stopping->load()) {
    End(Reply(ServerStops()));
    return;
  }
  const MonotonicTime now = parts_.now();
  if (now < next_check_) return;
  next_check_ = now + kCheckShare * parts_.heartbeat;
  if (const absl::Status status = lease_.CheckStillCounts(); !status.ok()) End(Reply(status));
}

void SweepWatch::PumpLocked() {
  if (subscription_ == nullptr || writing_ || ended_) return;
  EndWhereDue();
  if (!ended_ && next_.empty()) Load();
  if (ended_) return;
  if (next_.empty()) {
    if (is_last_) End(grpc::Status::OK);
    return;
  }
  sending_ = std::move(next_.front());
  next_.pop_front();
  writing_ = true;
  StartWrite(&sending_);
}

void SweepWatch::End(const grpc::Status& status) {
  if (ended_) return;
  ended_ = true;
  Finish(status);
}

void SweepWatch::OnWriteDone(bool ok) {
  absl::MutexLock lock(&mutex_);
  writing_ = false;
  if (!ok || is_cancelled_) {
    End(grpc::Status(grpc::StatusCode::CANCELLED, "the watcher went away"));
    return;
  }
  PumpLocked();
}

void SweepWatch::OnCancel() {
  absl::MutexLock lock(&mutex_);
  is_cancelled_ = true;
  // The end of a write in progress ends the call, whether the message was sent or not.
  if (!writing_) End(grpc::Status(grpc::StatusCode::CANCELLED, "the watcher went away"));
}

void SweepWatch::OnDone() {
  subscription_.reset();
  // gRPC may be done before the thread that ended the call has released the lock.
  { const absl::MutexLock lock(&mutex_); }
  delete this;
}

}  // namespace meshwright::server

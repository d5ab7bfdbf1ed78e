#include "server/sweep_watch.h"

#include <utility>
#include <vector>

#include "proto/rpc_status.h"
#include "server/sweep_messages.h"

namespace meshwright::server {
namespace {

constexpr int32_t kBatch = 100;

}  // namespace

SweepWatch::SweepWatch(db::SweepStore* store, EventHub* hub, const std::atomic<bool>* stopping,
                       const db::SweepRecord& sweep, int64_t after_sequence)
    : store_(store),
      stopping_(stopping),
      sweep_id_(sweep.id),
      sweep_name_(sweep.name),
      last_sequence_(after_sequence) {
  subscription_ = hub->Subscribe(sweep_id_, [this] { Pump(); });
  Pump();
}

void SweepWatch::Pump() {
  absl::MutexLock lock(&mutex_);
  PumpLocked();
}

bool SweepWatch::Load(bool* ended) {
  // The sweep first: events that come between the two reads are then found, not missed.
  const absl::StatusOr<db::SweepRecord> sweep = store_->GetSweepById(sweep_id_);
  const absl::StatusOr<std::vector<db::EventRecord>> events =
      store_->ListEvents(sweep_id_, last_sequence_, kBatch);
  if (absl::IsNotFound(sweep.status())) {
    End(grpc::Status(grpc::StatusCode::NOT_FOUND, "sweep " + sweep_name_ + " was deleted"));
    return false;
  }
  if (!sweep.ok() || !events.ok()) {
    End(ToGrpcStatus(sweep.ok() ? events.status() : sweep.status()));
    return false;
  }
  for (const db::EventRecord& event : *events) loaded_.push_back(ToWire(event, sweep_name_));
  if (!events->empty()) last_sequence_ = events->back().sequence;
  *ended = db::HasEnded(sweep->state);
  return !events->empty();
}

void SweepWatch::PumpLocked() {
  if (writing_ || ended_) return;
  if (stopping_->load()) {
    End(grpc::Status(grpc::StatusCode::UNAVAILABLE, "the server stops"));
    return;
  }
  bool sweep_ended = false;
  if (loaded_.empty() && !Load(&sweep_ended)) {
    if (sweep_ended) End(grpc::Status::OK);
    return;
  }
  sending_ = std::move(loaded_.front());
  loaded_.pop_front();
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
  if (!ok) {
    End(grpc::Status(grpc::StatusCode::CANCELLED, "the watcher went away"));
    return;
  }
  PumpLocked();
}

void SweepWatch::OnCancel() {
  absl::MutexLock lock(&mutex_);
  // A write that is under way ends the call itself.
  if (!writing_) End(grpc::Status(grpc::StatusCode::CANCELLED, "the watcher went away"));
}

void SweepWatch::OnDone() {
  subscription_.reset();
  // gRPC may be done before who ended the call has let go of the lock.
  { const absl::MutexLock lock(&mutex_); }
  delete this;
}

}  // namespace meshwright::server

// One WatchSweep call: sends a sweep's events from the store, in order and once each, until the
// sweep has ended, is deleted (NOT_FOUND) or the server stops.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "db/sweep_store.h"
#include "meshwright/v1/sweeps.grpc.pb.h"
#include "server/event_hub.h"

namespace meshwright::server {

// Deletes itself when the call is over.
class SweepWatch final : public grpc::ServerWriteReactor<v1::SweepEvent> {
 public:
  // All pointers must outlive the call. `stopping` turns true when the server stops.
  SweepWatch(db::SweepStore* store, EventHub* hub, const std::atomic<bool>* stopping,
             const db::SweepRecord& sweep, int64_t after_sequence);

  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

 private:
  void Pump();
  void PumpLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Reads the next events; false when there are none, and then `ended` says whether more can come.
  bool Load(bool* ended) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void End(const grpc::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  db::SweepStore* const store_;
  const std::atomic<bool>* const stopping_;
  const int64_t sweep_id_;
  const std::string sweep_name_;

  absl::Mutex mutex_;
  int64_t last_sequence_ ABSL_GUARDED_BY(mutex_);
  std::deque<v1::SweepEvent> loaded_ ABSL_GUARDED_BY(mutex_);
  v1::SweepEvent sending_;  // belongs to gRPC while writing_
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  std::unique_ptr<EventHub::Subscription> subscription_;
};

}  // namespace meshwright::server

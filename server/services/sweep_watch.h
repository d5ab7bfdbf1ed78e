// SweepWatch answers one WatchSweep call. It sends a sweep's events, in order and each once, and
// the progress of the sweep's trials. The call ends when the sweep has ended, when the sweep is
// deleted (NOT_FOUND), or when the server stops. It also ends within a heartbeat of the moment when
// the caller's token is revoked or expires (UNAUTHENTICATED).
//
// Events older than the call come from the store, later ones from the hub. If a watcher reads too
// slowly, the hub drops events, and the watch reads the dropped events from the store.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/system/monotonic_time.h"
#include "db/sweep_store.h"
#include "meshwright/v1/sweeps.grpc.pb.h"
#include "server/calls/stream_lease.h"
#include "server/sweeps/event_hub.h"

namespace meshwright::server {

// Time between two checks of the caller, as a share of a heartbeat. A token that becomes invalid
// just after a check is noticed by the next one, still within a heartbeat.
inline constexpr double kCheckShare = 0.5;

// The objects and settings that all watches share. REQUIRES: the objects outlive the watches.
struct WatchParts {
  db::SweepReader* store = nullptr;
  // The server also runs all callbacks of the hub every kCheckShare of a heartbeat.
  EventHub* hub = nullptr;
  const std::atomic<bool>* stopping = nullptr;  // turns true when the server stops
  MonotonicClock now;
  absl::Duration heartbeat;  // a revoked or expired token is noticed within this time
};

// The watch deletes itself when the call is over.
class SweepWatch final : public grpc::ServerWriteReactor<v1::SweepEvent> {
 public:
  SweepWatch(const WatchParts& parts, const db::SweepRecord& sweep, int64_t after_sequence,
             StreamLease lease);

  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

 private:
  void Pump();
  void PumpLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Fills next_ from the store or from the hub's events.
  void Load() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void LoadFromStore() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void LoadFromHub() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Ends the call if nothing more may be sent.
  void EndWhereDue() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Add(const db::EventRecord& event) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void End(const grpc::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const WatchParts parts_;
  const StreamLease lease_;
  const int64_t sweep_id_;
  const std::string sweep_name_;

  absl::Mutex mutex_;
  int64_t last_sequence_ ABSL_GUARDED_BY(mutex_);
  std::deque<v1::SweepEvent> next_ ABSL_GUARDED_BY(mutex_);
  // If true, the store may have events that the hub no longer has.
  bool reads_store_ ABSL_GUARDED_BY(mutex_) = true;
  bool is_last_ ABSL_GUARDED_BY(mutex_) = false;  // no event follows those in next_
  v1::SweepEvent sending_;                        // belongs to gRPC while writing_
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  MonotonicTime next_check_ ABSL_GUARDED_BY(mutex_);  // when the caller is checked next
  std::unique_ptr<EventHub::Subscription> subscription_;
};

}  // namespace meshwright::server

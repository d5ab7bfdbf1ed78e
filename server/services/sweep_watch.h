// SweepWatch answers one WatchSweep call: it sends a sweep's events in order and once each, and its
// trials' progress, until the sweep has ended, is deleted (NOT_FOUND), the caller's token no longer
// counts (UNAUTHENTICATED, within a heartbeat, as for an agent's stream) or the server stops.
//
// Events older than the call come from the store; later ones from the hub. A watcher that reads too
// slowly is sent back to the store.
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

// Share of a heartbeat between two checks of the caller: what one check is too early to see, the
// next sees in time.
inline constexpr double kCheckShare = 0.5;

// What watches work with; everything outlives them.
struct WatchParts {
  db::SweepReader* store = nullptr;
  EventHub* hub = nullptr;  // also runs all callbacks every kCheckShare of a heartbeat
  const std::atomic<bool>* stopping = nullptr;  // turns true when the server stops
  MonotonicClock now;
  absl::Duration heartbeat;  // within which a caller whose token no longer counts is noticed
};

// Deletes itself when the call is over.
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
  // Fills next_ from the store, or from what the hub has.
  void Load() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void LoadFromStore() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void LoadFromHub() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Ends the call where nothing more may be sent.
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
  // Whether the store may have events that the hub no longer has.
  bool reads_store_ ABSL_GUARDED_BY(mutex_) = true;
  bool is_last_ ABSL_GUARDED_BY(mutex_) = false;  // nothing follows what is in next_
  v1::SweepEvent sending_;                        // belongs to gRPC while writing_
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  MonotonicTime next_check_ ABSL_GUARDED_BY(mutex_);  // of the caller
  std::unique_ptr<EventHub::Subscription> subscription_;
};

}  // namespace meshwright::server

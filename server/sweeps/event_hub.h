// EventHub delivers two kinds of events to the watchers of a sweep: stored events, and the progress
// of running trials, which is not stored.
//
// Callers may rely on: a watcher that takes its events in time gets each event once. If a watcher
// is too slow, the hub drops the events that it has kept for this watcher and reports that
// (Batch::missed). No function waits for a watcher.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "db/records.h"

namespace meshwright::server {

class EventHub {
 public:
  using Event = std::shared_ptr<const db::EventRecord>;
  using Observer = std::function<void(const std::vector<db::EventRecord>&)>;

  // `observer` sees all stored events before watchers do; it may be empty.
  explicit EventHub(Observer observer = {}) : observer_(std::move(observer)) {}

  // The events since the last Take().
  struct Batch {
    std::vector<Event> events;    // by sequence
    std::vector<Event> progress;  // the newest of each trial
    bool missed = false;          // more events came than the hub keeps; the store has them
    bool deleted = false;         // the sweep was deleted
  };

  // Destroying a subscription ends it. Its callback does not run after that.
  class Subscription {
   public:
    ~Subscription();
    Subscription(const Subscription&) = delete;
    Subscription& operator=(const Subscription&) = delete;

    // Returns the events since the last call. May be called from the callback.
    Batch Take();

   private:
    friend class EventHub;
    Subscription(EventHub* hub, int64_t sweep_id, std::function<void()> callback)
        : hub_(hub), sweep_id_(sweep_id), callback_(std::move(callback)) {}
    void Add(const Event& event);
    void AddProgress(const Event& event);
    void MarkDeleted();

    EventHub* const hub_;
    const int64_t sweep_id_;
    const std::function<void()> callback_;
    absl::Mutex mutex_;
    std::deque<Event> events_ ABSL_GUARDED_BY(mutex_);
    std::map<int32_t, Event> progress_ ABSL_GUARDED_BY(mutex_);
    bool missed_ ABSL_GUARDED_BY(mutex_) = false;
    bool deleted_ ABSL_GUARDED_BY(mutex_) = false;
  };

  // Subscribes to the sweep's events from now on, and to the newest progress of its trials.
  // `callback` runs when there may be something to take; it must not block. REQUIRES: the hub
  // outlives the subscription.
  std::unique_ptr<Subscription> Subscribe(int64_t sweep_id, std::function<void()> callback);

  // Delivers stored events. REQUIRES: they are ordered by sequence.
  void Publish(std::vector<db::EventRecord> events);
  void PublishProgress(db::EventRecord event);
  void PublishDeleted(int64_t sweep_id);
  // Runs every callback, so that watchers see that the server stops.
  void NotifyAll();

 private:
  const Observer observer_;
  absl::Mutex mutex_;
  std::multimap<int64_t, Subscription*> subscriptions_ ABSL_GUARDED_BY(mutex_);
  // Progress of running trials, by sweep and number.
  std::map<int64_t, std::map<int32_t, Event>> progress_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace meshwright::server

// Tells watchers that a sweep has new events in the store. Carries no events itself: a watcher
// reads them from the store, so that it can't miss or repeat one.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace meshwright::server {

class EventHub {
 public:
  // Ends the subscription when it is destroyed; the callback does not run after that.
  class Subscription {
   public:
    ~Subscription();
    Subscription(const Subscription&) = delete;
    Subscription& operator=(const Subscription&) = delete;

   private:
    friend class EventHub;
    Subscription(EventHub* hub, int64_t sweep_id, int64_t id)
        : hub_(hub), sweep_id_(sweep_id), id_(id) {}
    EventHub* hub_;
    int64_t sweep_id_;
    int64_t id_;
  };

  // `callback` must not block and must not use the hub. The hub must outlive the subscription.
  std::unique_ptr<Subscription> Subscribe(int64_t sweep_id, std::function<void()> callback);
  void Notify(int64_t sweep_id);
  // Runs every callback, so that watchers see that the server stops.
  void NotifyAll();

 private:
  absl::Mutex mutex_;
  int64_t next_id_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<int64_t, std::map<int64_t, std::function<void()>>> callbacks_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace meshwright::server

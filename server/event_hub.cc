#include "server/event_hub.h"

#include <utility>

namespace meshwright::server {

EventHub::Subscription::~Subscription() {
  absl::MutexLock lock(&hub_->mutex_);
  const auto found = hub_->callbacks_.find(sweep_id_);
  if (found == hub_->callbacks_.end()) return;
  found->second.erase(id_);
  if (found->second.empty()) hub_->callbacks_.erase(found);
}

std::unique_ptr<EventHub::Subscription> EventHub::Subscribe(int64_t sweep_id,
                                                            std::function<void()> callback) {
  absl::MutexLock lock(&mutex_);
  const int64_t id = next_id_++;
  callbacks_[sweep_id][id] = std::move(callback);
  return std::unique_ptr<Subscription>(new Subscription(this, sweep_id, id));
}

void EventHub::Notify(int64_t sweep_id) {
  absl::MutexLock lock(&mutex_);
  const auto found = callbacks_.find(sweep_id);
  if (found == callbacks_.end()) return;
  for (const auto& [id, callback] : found->second) callback();
}

void EventHub::NotifyAll() {
  absl::MutexLock lock(&mutex_);
  for (const auto& [sweep, callbacks] : callbacks_) {
    for (const auto& [id, callback] : callbacks) callback();
  }
}

}  // namespace meshwright::server

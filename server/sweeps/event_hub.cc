#include "server/sweeps/event_hub.h"

#include <set>
#include <utility>

namespace meshwright::server {
namespace {

// The most events that are kept for one watcher, several times as many as one action on a large
// sweep causes.
constexpr size_t kMostKept = 4096;

}  // namespace

EventHub::Subscription::~Subscription() {
  absl::MutexLock lock(&hub_->mutex_);
  const auto [first, last] = hub_->subscriptions_.equal_range(sweep_id_);
  for (auto entry = first; entry != last; ++entry) {
    if (entry->second != this) continue;
    hub_->subscriptions_.erase(entry);
    return;
  }
}

EventHub::Batch EventHub::Subscription::Take() {
  absl::MutexLock lock(&mutex_);
  Batch batch;
  batch.events.assign(events_.begin(), events_.end());
  for (const auto& [trial, event] : progress_) batch.progress.push_back(event);
  batch.missed = std::exchange(missed_, false);
  batch.deleted = deleted_;
  events_.clear();
  progress_.clear();
  return batch;
}

void EventHub::Subscription::Add(const Event& event) {
  absl::MutexLock lock(&mutex_);
  progress_.erase(event->trial);
  if (missed_) return;
  events_.push_back(event);
  if (events_.size() <= kMostKept) return;
  events_.clear();
  missed_ = true;
}

void EventHub::Subscription::AddProgress(const Event& event) {
  absl::MutexLock lock(&mutex_);
  progress_[event->trial] = event;
}

void EventHub::Subscription::MarkDeleted() {
  absl::MutexLock lock(&mutex_);
  deleted_ = true;
}

std::unique_ptr<EventHub::Subscription> EventHub::Subscribe(int64_t sweep_id,
                                                            std::function<void()> callback) {
  std::unique_ptr<Subscription> subscription(new Subscription(this, sweep_id, std::move(callback)));
  absl::MutexLock lock(&mutex_);
  subscriptions_.emplace(sweep_id, subscription.get());
  if (const auto known = progress_.find(sweep_id); known != progress_.end()) {
    for (const auto& [trial, event] : known->second) subscription->AddProgress(event);
  }
  return subscription;
}

void EventHub::Publish(std::vector<db::EventRecord> events) {
  if (observer_) observer_(events);
  absl::MutexLock lock(&mutex_);
  std::set<int64_t> sweeps;
  for (db::EventRecord& record : events) {
    sweeps.insert(record.sweep_id);
    if (const auto known = progress_.find(record.sweep_id); known != progress_.end()) {
      // An event of the sweep as a whole: it has ended, or waits.
      record.trial == 0 ? known->second.clear()
                        : static_cast<void>(known->second.erase(record.trial));
      if (known->second.empty()) progress_.erase(known);
    }
    const auto [first, last] = subscriptions_.equal_range(record.sweep_id);
    if (first == last) continue;
    const Event event = std::make_shared<const db::EventRecord>(std::move(record));
    for (auto entry = first; entry != last; ++entry) entry->second->Add(event);
  }
  for (const int64_t sweep_id : sweeps) {
    const auto [first, last] = subscriptions_.equal_range(sweep_id);
    for (auto entry = first; entry != last; ++entry) entry->second->callback_();
  }
}

void EventHub::PublishProgress(db::EventRecord record) {
  absl::MutexLock lock(&mutex_);
  const Event event = std::make_shared<const db::EventRecord>(std::move(record));
  progress_[event->sweep_id][event->trial] = event;
  const auto [first, last] = subscriptions_.equal_range(event->sweep_id);
  for (auto entry = first; entry != last; ++entry) {
    entry->second->AddProgress(event);
    entry->second->callback_();
  }
}

void EventHub::PublishDeleted(int64_t sweep_id) {
  absl::MutexLock lock(&mutex_);
  progress_.erase(sweep_id);
  const auto [first, last] = subscriptions_.equal_range(sweep_id);
  for (auto entry = first; entry != last; ++entry) {
    entry->second->MarkDeleted();
    entry->second->callback_();
  }
}

void EventHub::NotifyAll() {
  absl::MutexLock lock(&mutex_);
  for (const auto& [sweep_id, subscription] : subscriptions_) subscription->callback_();
}

}  // namespace meshwright::server

#include "server/sweeps/group_writer.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "absl/synchronization/notification.h"

namespace meshwright::server {
namespace {

constexpr size_t kMostJobs = 256;  // of a group
constexpr std::chrono::milliseconds kRetryAfter(100);

// Returns whether the store as a whole can't be written, rather than this change to it.
bool IsOfTheStore(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDataLoss(status) || absl::IsInternal(status);
}

}  // namespace

GroupWriter::GroupWriter(db::SweepStore* store, Hooks hooks)
    : store_(store), hooks_(std::move(hooks)), thread_([this] { Run(); }) {}

GroupWriter::~GroupWriter() { Stop(); }

void GroupWriter::Submit(Job job) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(job));
  }
  wakes_.notify_all();
}

bool GroupWriter::Flush(absl::Duration patience) {
  const auto done = std::make_shared<absl::Notification>();
  Submit({.store = {}, .stored = [done](const absl::Status&) { done->Notify(); }});
  return done->WaitForNotificationWithTimeout(patience);
}

void GroupWriter::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wakes_.notify_all();
  if (thread_.joinable()) thread_.join();
}

GroupWriter::Group GroupWriter::TakeGroup() {
  std::unique_lock lock(mutex_);
  wakes_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
  Group group;
  while (!queue_.empty() && group.size() < kMostJobs) {
    group.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  return group;
}

void GroupWriter::Run() {
  while (true) {
    Group group = TakeGroup();
    if (group.empty()) return;
    StoreGroup(std::move(group));
  }
}

absl::StatusOr<std::vector<db::EventRecord>> GroupWriter::TryJobs(
    const Group& group, bool undo_alone, std::vector<absl::Status>& statuses) {
  statuses.assign(group.size(), absl::OkStatus());
  return store_->Atomically([&](db::SweepAccess& access) {
    for (size_t i = 0; i < group.size(); ++i) {
      if (!group[i].store) continue;
      statuses[i] = undo_alone ? access.Together(group[i].store) : group[i].store(access);
      if (!statuses[i].ok() && (!undo_alone || IsOfTheStore(statuses[i]))) return statuses[i];
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<std::vector<db::EventRecord>> GroupWriter::TryGroup(
    const Group& group, std::vector<absl::Status>& statuses) {
  statuses.assign(group.size(), absl::OkStatus());
  bool stores = false;
  for (const Job& job : group) stores = stores || job.store;
  if (!stores) return std::vector<db::EventRecord>();
  // Jobs seldom fail: only a group in which one did pays the cost of making each job undoable
  // alone.
  absl::StatusOr<std::vector<db::EventRecord>> events =
      TryJobs(group, /*undo_alone=*/false, statuses);
  if (events.ok() || IsOfTheStore(events.status())) return events;
  return TryJobs(group, /*undo_alone=*/true, statuses);
}

void GroupWriter::StoreGroup(Group group) {
  std::vector<absl::Status> statuses;
  absl::StatusOr<std::vector<db::EventRecord>> events = TryGroup(group, statuses);
  while (!events.ok()) {
    if (!std::exchange(failing_, true)) hooks_.failed(events.status());
    {
      std::unique_lock lock(mutex_);
      wakes_.wait_for(lock, kRetryAfter, [this] { return stopping_; });
      if (stopping_) break;
    }
    events = TryGroup(group, statuses);
  }
  if (events.ok()) {
    const bool stores =
        std::any_of(group.begin(), group.end(), [](const Job& job) { return bool{job.store}; });
    if (stores && hooks_.durable) hooks_.durable();
    if (!events->empty()) hooks_.events(*std::move(events));
    if (std::exchange(failing_, false)) hooks_.back();
  } else {
    statuses.assign(group.size(),
                    absl::CancelledError("the server stopped before the change was stored"));
  }
  for (size_t i = 0; i < group.size(); ++i) {
    if (group[i].stored) group[i].stored(statuses[i]);
  }
}

}  // namespace meshwright::server

#include "executor/agent/trial_threads.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace meshwright::agent {

TrialThreads::TrialThreads(TrialRunners runners, std::string worker_path, int32_t slots,
                           Callbacks callbacks)
    : runners_(std::move(runners)),
      worker_path_(std::move(worker_path)),
      slots_(slots),
      callbacks_(std::move(callbacks)) {
  threads_.reserve(static_cast<size_t>(slots));
  for (int32_t slot = 0; slot < slots; ++slot) threads_.emplace_back([this] { Loop(); });
}

TrialThreads::~TrialThreads() {
  {
    const absl::MutexLock lock(&mutex_);
    ending_ = true;
    for (Entries* entries : {&waiting_, &running_}) {
      for (Entry& entry : *entries) entry.cancel.store(true);
    }
  }
  for (std::thread& thread : threads_) thread.join();
}

void TrialThreads::Start(TrialJob job) {
  const absl::MutexLock lock(&mutex_);
  waiting_.emplace_back(std::move(job)).cancel.store(ending_);
}

void TrialThreads::Cancel(const AttemptKey& key) {
  const absl::MutexLock lock(&mutex_);
  // Of two stores there may be one each; the older is meant.
  for (Entries* entries : {&running_, &waiting_}) {
    const auto found = std::find_if(entries->begin(), entries->end(),
                                    [&](const Entry& entry) { return entry.job.key == key; });
    if (found == entries->end()) continue;
    found->cancel.store(true);
    return;
  }
}

TrialThreads::PeakKey TrialThreads::KindOf(const trial::TrialPlan& plan) {
  return {plan.device, plan.training.precision, plan.layout.devices()};
}

double TrialThreads::KnownPeak(const trial::TrialPlan& plan) const {
  const auto known = peak_flops_.find(KindOf(plan));
  return known == peak_flops_.end() ? 0.0 : known->second;
}

bool TrialThreads::MayRunBeside(const Entry& entry, const Entry& running) const {
  const TrialJob& job = entry.job;
  const TrialJob& other = running.job;
  if (job.key == other.key || job.share.Overlaps(other.share)) return false;
  const bool both_measure = !job.place && !other.place && KindOf(job.plan) == KindOf(other.plan) &&
                            KnownPeak(job.plan) == 0.0;
  return !both_measure;
}

TrialThreads::Entries::iterator TrialThreads::NextToRun() {
  for (auto entry = waiting_.begin(); entry != waiting_.end(); ++entry) {
    const auto is_free = [&](const Entry& other) { return MayRunBeside(*entry, other); };
    if (std::all_of(running_.begin(), running_.end(), is_free) &&
        std::all_of(waiting_.begin(), entry, is_free)) {
      return entry;
    }
  }
  return waiting_.end();
}

void TrialThreads::Loop() {
  while (true) {
    Entries::iterator entry;
    {
      absl::MutexLock lock(&mutex_);
      const auto can_go_on = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
        return (ending_ && waiting_.empty()) || NextToRun() != waiting_.end();
      };
      mutex_.Await(absl::Condition(&can_go_on));
      entry = NextToRun();
      if (entry == waiting_.end()) return;
      if (slots_ > 1 && running_.empty()) idle_room_ = runners_.available_memory();
      entry->known_peak_flops = KnownPeak(entry->job.plan);
      running_.splice(running_.end(), waiting_, entry);
    }
    const trial::TrialResult result =
        entry->cancel.load() ? trial::CancelledResult("cancelled before it began") : Run(*entry);
    const AttemptKey key = entry->job.key;
    {
      const absl::MutexLock lock(&mutex_);
      if (result.outcome == trial::TrialOutcome::kOk && !entry->job.place) {
        peak_flops_[KindOf(entry->job.plan)] = result.measured_peak_flops;
      }
      running_.erase(entry);
    }
    callbacks_.done(key, result);
  }
}

absl::StatusOr<host::MemoryRoom> TrialThreads::RoomFor(const DeviceShare& share) {
  absl::StatusOr<host::MemoryRoom> room = runners_.available_memory();
  if (!room.ok() || share.slots == slots_) return room;
  const absl::MutexLock lock(&mutex_);
  if (!idle_room_.ok()) return room;
  // Those beside it may not have taken yet what they are going to.
  const int64_t part = idle_room_->bytes / slots_ * share.slots;
  if (part >= room->bytes) return room;
  return host::MemoryRoom{
      .bytes = part,
      .limit = absl::StrCat(share.slots, " of the agent's ", slots_, " slots, of ",
                            idle_room_->bytes, " bytes, ", idle_room_->limit)};
}

trial::TrialResult TrialThreads::Run(const Entry& entry) {
  const TrialJob& job = entry.job;
  if (runners_.bind) runners_.bind(job.share);
  trial::TrialRunnerOptions options;
  options.worker_path = worker_path_;
  options.cancel = &entry.cancel;
  options.first_device = job.share.first_device;
  options.available_memory = [this, &job] { return RoomFor(job.share); };
  options.progress = [&](const trial::TrialProgress& progress) {
    callbacks_.progress(job.key, progress);
  };
  options.warn = [&](const std::string& text) {
    if (callbacks_.warn) callbacks_.warn(job.key, text);
  };
  if (job.place) {
    // Whether it is measured again all members have to agree on.
    return runners_.together(job.plan, *job.place, options);
  }
  trial::TrialPlan plan = job.plan;
  plan.known_peak_flops = entry.known_peak_flops;
  return runners_.alone(plan, options);
}

}  // namespace meshwright::agent

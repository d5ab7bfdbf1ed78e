#include "executor/agent/trial_threads.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "executor/trial/memory_check.h"

namespace meshwright::agent {

namespace {

// Returns the host memory that the job's ranks here need.
int64_t HostBytesOf(const TrialJob& job) {
  if (job.plan.device != planner::DeviceKind::kCpu) return 0;
  std::vector<int32_t> ranks;
  if (job.membership) {
    ranks = gang::RanksOf(job.membership->own());
  } else {
    ranks.resize(static_cast<size_t>(job.plan.layout.devices()));
    std::iota(ranks.begin(), ranks.end(), 0);
  }
  return trial::BytesOfRanks(job.plan, ranks).value_or(0);
}

}  // namespace

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
  Entry& entry = waiting_.emplace_back(std::move(job));
  entry.cancel.store(ending_);
  entry.needs_bytes = HostBytesOf(entry.job);
}

void TrialThreads::Cancel(const wire::AttemptKey& key) {
  const absl::MutexLock lock(&mutex_);
  // Attempts of two stores may share a name; the older one is meant.
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
  // Once a trial of this kind has ended without a measurement, others no longer wait for one.
  // Commands of runners measure no peak.
  const bool both_measure = !job.plan.runner && !other.plan.runner && !job.membership &&
                            !other.membership && KindOf(job.plan) == KindOf(other.plan) &&
                            KnownPeak(job.plan) == 0.0 && !tried_.contains(KindOf(job.plan));
  return !both_measure;
}

bool TrialThreads::IsCancelled(const Entry& entry) const {
  return entry.cancel.load() &&
         std::none_of(running_.begin(), running_.end(),
                      [&](const Entry& running) { return running.job.key == entry.job.key; });
}

TrialThreads::Entries::iterator TrialThreads::NextToRun() {
  for (auto entry = waiting_.begin(); entry != waiting_.end(); ++entry) {
    if (IsCancelled(*entry)) return entry;
    const auto is_free = [&](const Entry& other) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return MayRunBeside(*entry, other);
    };
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
      if (running_.empty()) idle_bytes_ = 0;
      entry->known_peak_flops = KnownPeak(entry->job.plan);
      running_.splice(running_.end(), waiting_, entry);
    }
    const trial::TrialResult result =
        entry->cancel.load() ? trial::CancelledResult("cancelled before it began") : Run(*entry);
    const wire::AttemptKey key = entry->job.key;
    {
      const absl::MutexLock lock(&mutex_);
      if (!entry->job.membership && !entry->job.plan.runner && !entry->cancel.load()) {
        tried_.insert(KindOf(entry->job.plan));
        if (result.outcome == trial::TrialOutcome::kOk) {
          peak_flops_.try_emplace(KindOf(entry->job.plan), result.measured_peak_flops);
        }
      }
      running_.erase(entry);
    }
    callbacks_.done(key, result);
  }
}

absl::StatusOr<host::MemoryRoom> TrialThreads::RoomFor(const Entry& entry) {
  absl::StatusOr<host::MemoryRoom> room = runners_.available_memory();
  const wire::DeviceShare& share = entry.job.share;
  if (!room.ok() || share.slots == slots_) return room;
  const absl::MutexLock lock(&mutex_);
  idle_bytes_ = std::max(idle_bytes_, room->bytes);
  for (const Entry& other : running_) {
    if (&other == &entry) break;
    if (!other.has_taken.load()) room->bytes -= other.needs_bytes;
  }
  room->bytes = std::max<int64_t>(room->bytes, 0);
  const int64_t part = idle_bytes_ / slots_ * share.slots;
  if (part >= room->bytes) return room;
  return host::MemoryRoom{
      .bytes = part,
      .limit = absl::StrCat(share.slots, " of the agent's ", slots_, " slots, of ", idle_bytes_,
                            " bytes, ", room->limit)};
}

trial::TrialResult TrialThreads::Run(Entry& entry) {
  const TrialJob& job = entry.job;
  if (runners_.bind) runners_.bind(job.share);
  trial::TrialRunnerOptions options;
  options.worker_path = worker_path_;
  options.cancel = &entry.cancel;
  options.first_device = job.share.first_device;
  options.available_memory = [this, &entry] { return RoomFor(entry); };
  options.progress = [&](const trial::TrialProgress& progress) {
    if (progress.step > 0) entry.has_taken.store(true);
    callbacks_.progress(job.key, progress);
  };
  options.warn = [&](const std::string& text) {
    if (callbacks_.warn) callbacks_.warn(job.key, text);
  };
  if (job.membership) {
    // All members have to agree whether to measure, so a gang always does.
    return runners_.together(job.plan, *job.membership, options);
  }
  options.measured = [&](const trial::TrialResult& result) {
    if (callbacks_.measured) callbacks_.measured(job.key, result);
  };
  trial::TrialPlan plan = job.plan;
  plan.known_peak_flops = entry.known_peak_flops;
  return runners_.alone(plan, options);
}

}  // namespace meshwright::agent

#include "server/standby/change_log.h"

#include <algorithm>
#include <chrono>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text/status_macros.h"

namespace meshwright::server {
namespace {

// Distinguishes logs of all processes, so that no standby mistakes one for another.
std::string RandomId() {
  std::random_device entropy;
  return absl::StrFormat("%08x%08x%08x%08x", entropy(), entropy(), entropy(), entropy());
}

bool WasFollowed(db::ChangeSource* source) {
  return source != nullptr && source->WasCaptured().value_or(true);
}

}  // namespace

ChangeLog::ChangeLog(db::ChangeSource* source, Options options)
    : source_(source), options_(std::move(options)), had_standbys_(WasFollowed(source)) {}

ChangeLog::~ChangeLog() {
  Stop();
  if (source_ != nullptr) source_->EndCapture();
}

bool ChangeLog::HasLocked(const db::CopyPlace& place) const {
  if (log_id_.empty() || place.log_id != log_id_ || place.number > newest_) return false;
  return place.number == newest_ || (!kept_.empty() && kept_.front()->number <= place.number + 1);
}

bool ChangeLog::Has(const db::CopyPlace& place) const {
  const std::lock_guard lock(mutex_);
  return HasLocked(place);
}

int64_t ChangeLog::newest() const {
  const std::lock_guard lock(mutex_);
  return newest_;
}

absl::Status ChangeLog::BeginWhereDue() {
  if (source_ == nullptr) {
    return absl::UnimplementedError("a store in memory can't be followed");
  }
  const std::lock_guard beginning(beginning_);
  {
    const std::lock_guard lock(mutex_);
    if (!log_id_.empty()) return absl::OkStatus();
    // Before the capture begins, since its first transaction may come at once.
    log_id_ = RandomId();
    newest_ = 0;
  }
  absl::Status status = source_->BeginCapture(
      [this](absl::StatusOr<std::string> changes) { Add(std::move(changes)); });
  if (status.ok()) return status;
  const std::lock_guard lock(mutex_);
  log_id_.clear();
  return status;
}

void ChangeLog::Add(absl::StatusOr<std::string> changes) {
  bool ends = !changes.ok();
  {
    const std::lock_guard lock(mutex_);
    if (changes.ok()) {
      auto transaction = std::make_shared<Transaction>();
      transaction->number = ++newest_;
      transaction->changes = *std::move(changes);
      transaction->time = options_.clock();
      kept_bytes_ += static_cast<int64_t>(transaction->changes.size());
      kept_.push_back(std::move(transaction));
      while (kept_bytes_ > options_.most_bytes && kept_.size() > 1) {
        kept_bytes_ -= static_cast<int64_t>(kept_.front()->changes.size());
        kept_.pop_front();
      }
    } else {
      log_id_.clear();
      kept_.clear();
      kept_bytes_ = 0;
    }
  }
  changed_.notify_all();
  if (ends && options_.log) {
    options_.log({.level = LogLevel::kWarning,
                  .message = absl::StrCat("standbys need a new snapshot, because changes could not "
                                          "be recorded: ",
                                          changes.status().message())});
  }
}

absl::StatusOr<ChangeLog::Snapshot> ChangeLog::TakeSnapshot() {
  RETURN_IF_ERROR(BeginWhereDue());
  Snapshot snapshot;
  ASSIGN_OR_RETURN(snapshot.file, source_->Snapshot([&] {
    const std::lock_guard lock(mutex_);
    snapshot.place = {log_id_, newest_};
  }));
  return snapshot;
}

absl::StatusOr<std::shared_ptr<const ChangeLog::Transaction>> ChangeLog::Next(
    const db::CopyPlace& place, absl::Duration patience) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, absl::ToChronoNanoseconds(patience),
                    [&] { return stopped_ || !HasLocked(place) || newest_ > place.number; });
  if (stopped_) return absl::CancelledError("the server stops");
  if (!HasLocked(place)) {
    return absl::OutOfRangeError(
        absl::StrCat("the transactions after ", place.number, " are no longer kept"));
  }
  if (newest_ == place.number) return nullptr;
  return kept_[static_cast<size_t>(place.number + 1 - kept_.front()->number)];
}

bool ChangeLog::IsConnectedLocked() const {
  return std::any_of(standbys_.begin(), standbys_.end(),
                     [](const auto& entry) { return entry.second.streams > 0; });
}

void ChangeLog::LookForOthers() {
  {
    const std::lock_guard lock(mutex_);
    if (log_id_.empty()) return;
    if (!IsConnectedLocked() && kept_bytes_ > options_.most_bytes / 2) {
      log_id_.clear();
      kept_.clear();
      kept_bytes_ = 0;
    }
  }
  const std::lock_guard beginning(beginning_);
  bool ended = false;
  {
    const std::lock_guard lock(mutex_);
    ended = log_id_.empty();
  }
  ended ? source_->EndCapture() : source_->CaptureOthers();
}

void ChangeLog::Connect(const std::string& standby) {
  const std::lock_guard lock(mutex_);
  Standby& known = standbys_[standby];
  if (known.streams++ == 0 && !known.place) known.had_all = options_.clock();
}

void ChangeLog::Disconnect(const std::string& standby) {
  {
    const std::lock_guard lock(mutex_);
    --standbys_[standby].streams;
  }
  changed_.notify_all();
}

void ChangeLog::Acknowledge(const std::string& standby, const db::CopyPlace& place) {
  {
    const std::lock_guard lock(mutex_);
    Standby& known = standbys_[standby];
    known.place = place;
    if (place.log_id == log_id_ && place.number == newest_) known.had_all = options_.clock();
  }
  changed_.notify_all();
}

StandbyLag ChangeLog::LagOf(const std::string& name, const Standby& standby) const {
  StandbyLag lag{
      .name = name, .connected = standby.streams > 0, .complete = standby.place.has_value()};
  const bool same_log = standby.place && standby.place->log_id == log_id_ && !log_id_.empty();
  if (same_log && standby.place->number == newest_) return lag;
  lag.transactions = same_log ? newest_ - standby.place->number : newest_;
  MonotonicTime since = standby.had_all;
  bool is_first = true;
  for (const auto& transaction : kept_) {
    if (same_log && transaction->number <= standby.place->number) continue;
    lag.bytes += static_cast<int64_t>(transaction->changes.size());
    // Before that transaction it lacked nothing.
    const bool is_next = same_log && transaction->number == standby.place->number + 1;
    if (std::exchange(is_first, false) && is_next) since = transaction->time;
  }
  lag.time = options_.clock().since_start - since.since_start;
  return lag;
}

std::vector<StandbyLag> ChangeLog::Lags() const {
  const std::lock_guard lock(mutex_);
  std::vector<StandbyLag> lags;
  for (const auto& [name, standby] : standbys_) lags.push_back(LagOf(name, standby));
  return lags;
}

bool ChangeLog::HasStandbys() const {
  const std::lock_guard lock(mutex_);
  return had_standbys_ || !standbys_.empty();
}

bool ChangeLog::AwaitStandbys(absl::Duration patience) {
  std::unique_lock lock(mutex_);
  const int64_t wanted = newest_;
  const std::string log = log_id_;
  // A standby that is far behind would only make everybody wait in vain.
  constexpr int64_t kFarBehind = 64;
  return changed_.wait_for(lock, absl::ToChronoNanoseconds(patience), [&] {
    return stopped_ || std::none_of(standbys_.begin(), standbys_.end(), [&](const auto& entry) {
             const Standby& standby = entry.second;
             if (standby.streams == 0 || !standby.place || standby.place->log_id != log)
               return false;
             return standby.place->number < wanted && standby.place->number >= wanted - kFarBehind;
           });
  });
}

void ChangeLog::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
}

}  // namespace meshwright::server

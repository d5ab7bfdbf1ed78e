#include "server/calls/call_rates.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_format.h"

namespace meshwright::server {
namespace {

// With this many buckets, the full ones are dropped before another is made.
constexpr size_t kManyBuckets = 1024;

}  // namespace

CallRates::CallRates(double calls_per_s, MonotonicClock now, RefusalSink refused)
    : calls_per_s_(calls_per_s),
      most_calls_(std::max(1.0, calls_per_s * absl::ToDoubleSeconds(kMostSavedCalls))),
      now_(std::move(now)),
      refused_(std::move(refused)) {}

double CallRates::CallsIn(const Bucket& bucket, MonotonicTime now) const {
  const double passed_s = absl::ToDoubleSeconds(now.since_start - bucket.filled.since_start);
  return std::min(most_calls_, bucket.calls + std::max(0.0, passed_s) * calls_per_s_);
}

void CallRates::DropFull(MonotonicTime now) {
  std::erase_if(buckets_,
                [&](const auto& entry) { return CallsIn(entry.second, now) >= most_calls_; });
}

absl::Status CallRates::Take(const std::string& caller) {
  double missing = 0.0;
  {
    absl::MutexLock lock(&mutex_);
    const MonotonicTime now = now_();
    auto entry = buckets_.find(caller);
    if (entry == buckets_.end()) {
      if (buckets_.size() >= kManyBuckets) DropFull(now);
      entry = buckets_.emplace(caller, Bucket{most_calls_, now}).first;
    }
    Bucket& bucket = entry->second;
    bucket = {CallsIn(bucket, now), now};
    if (bucket.calls >= 1.0) {
      bucket.calls -= 1.0;
      return absl::OkStatus();
    }
    missing = 1.0 - bucket.calls;
  }
  absl::Status refusal = absl::ResourceExhaustedError(absl::StrFormat(
      "%s calls too often: one caller may make %g calls a second (serve --max-calls-per-s) and %g "
      "at once after a pause; the next may come in %.3g s",
      caller, calls_per_s_, most_calls_, missing / calls_per_s_));
  if (refused_) refused_("calls_per_s", caller, refusal);
  return refusal;
}

}  // namespace meshwright::server

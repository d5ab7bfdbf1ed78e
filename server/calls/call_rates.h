// How often each caller calls: a bucket of calls for each, which fills by the clock.
#pragma once

#include <map>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/system/monotonic_time.h"
#include "server/calls/concurrency_limit.h"

namespace meshwright::server {

// What a caller who paused has saved up, and may make at once.
inline constexpr absl::Duration kMostSavedCalls = absl::Seconds(5);

// Callers may rely on: one who makes no more than `calls_per_s` evenly is never refused; memory is
// held for callers of the last seconds only. All functions may be called from any thread.
class CallRates {
 public:
  CallRates(double calls_per_s, MonotonicClock now, RefusalSink refused);

  // Counts a call of `caller`, as events name them. ResourceExhausted, and the call counts for
  // nothing, where it comes too soon; says when the next may.
  absl::Status Take(const std::string& caller);

 private:
  struct Bucket {
    double calls = 0.0;  // that may be made at once
    MonotonicTime filled;
  };

  // As the clock has filled it since.
  double CallsIn(const Bucket& bucket, MonotonicTime now) const;
  // Those that are full are as good as new ones.
  void DropFull(MonotonicTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const double calls_per_s_;
  const double most_calls_;  // in a bucket
  const MonotonicClock now_;
  const RefusalSink refused_;
  absl::Mutex mutex_;
  std::map<std::string, Bucket> buckets_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace meshwright::server

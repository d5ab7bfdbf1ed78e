// CallRates limits how often each caller calls, by a token bucket for each that refills with time.
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

// The bucket's size: the calls of this time may be made at once after a pause.
inline constexpr absl::Duration kMostSavedCalls = absl::Seconds(5);

// Callers may rely on: calls made evenly at no more than `calls_per_s` are never refused; memory is
// held only for callers of the last seconds. All functions may be called from any thread.
class CallRates {
 public:
  CallRates(double calls_per_s, MonotonicClock now, RefusalSink refused);

  // Counts a call of `caller`, named as in events. ResourceExhausted, with when the next call may
  // come, where it comes too soon; such a call is not counted.
  absl::Status Take(const std::string& caller);

 private:
  struct Bucket {
    double calls = 0.0;  // that may be made at once
    MonotonicTime filled;
  };

  // Returns the bucket's calls at `now`, with those refilled since.
  double CallsIn(const Bucket& bucket, MonotonicTime now) const;
  // Drops full buckets, which equal new ones.
  void DropFull(MonotonicTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const double calls_per_s_;
  const double most_calls_;  // in a bucket
  const MonotonicClock now_;
  const RefusalSink refused_;
  absl::Mutex mutex_;
  std::map<std::string, Bucket> buckets_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace meshwright::server

// CallRates limits how often each caller calls. Each caller has a token bucket that refills with
// time.
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

// Size of a bucket, as a time. After a pause, a caller may make a burst of as many calls as its
// rate allows in this time.
inline constexpr absl::Duration kMostSavedCalls = absl::Seconds(5);

// Callers may rely on: calls made evenly at no more than `calls_per_s` are never refused. If there
// are many callers, memory is held only for callers of the last few seconds. All functions may be
// called from any thread.
class CallRates {
 public:
  CallRates(double calls_per_s, MonotonicClock now, RefusalSink refused);

  // Counts a call of `caller`, who is named as in events. If the call comes too soon, returns
  // ResourceExhausted, which says when the next call may come. Such a call is not counted.
  absl::Status Take(const std::string& caller);

 private:
  struct Bucket {
    double calls = 0.0;  // calls left in the bucket
    MonotonicTime filled;
  };

  // Returns the calls in the bucket at `now`, including those refilled since `filled`.
  double CallsIn(const Bucket& bucket, MonotonicTime now) const;
  // Drops full buckets, which equal new ones.
  void DropFull(MonotonicTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const double calls_per_s_;
  const double most_calls_;  // capacity of a bucket
  const MonotonicClock now_;
  const RefusalSink refused_;
  absl::Mutex mutex_;
  std::map<std::string, Bucket> buckets_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace meshwright::server

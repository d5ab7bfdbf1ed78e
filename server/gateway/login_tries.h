// LoginTries limits how often somebody at one address may try to log in, so that tokens can't be
// guessed and a page of many tries does not keep the token store busy.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/system/monotonic_time.h"

namespace meshwright::server {

inline constexpr int kMostLoginTries = 5;
inline constexpr absl::Duration kLoginTriesTime = absl::Minutes(1);
// Beyond this many addresses, all others count as one.
inline constexpr size_t kMostLoginAddresses = 10'000;

class LoginTries {
 public:
  explicit LoginTries(MonotonicClock now) : now_(std::move(now)) {}

  // Counts a try from a numeric address. An IPv6 address counts with the 2^64 that share its first
  // half, since one host has all of them. Returns ResourceExhausted, which says when the next try
  // may come, for the sixth try within a minute of the first.
  absl::Status Take(const std::string& address);

 private:
  struct Tries {
    MonotonicTime begin;
    int count = 0;
  };

  const MonotonicClock now_;
  absl::Mutex mutex_;
  std::map<std::string, Tries> tries_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace meshwright::server

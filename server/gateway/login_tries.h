// LoginTries limits how often clients at one address may try to log in, so that nobody can guess
// tokens or keep the token store busy with many tries.
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
// Tries are counted per address for at most this many addresses; all further addresses count as
// one.
inline constexpr size_t kMostLoginAddresses = 10'000;

class LoginTries {
 public:
  explicit LoginTries(MonotonicClock now) : now_(std::move(now)) {}

  // Counts a try from a numeric address. All IPv6 addresses with the same first 64 bits count as
  // one address, since one host may have all of them. For a try beyond kMostLoginTries within
  // kLoginTriesTime of the first one, returns ResourceExhausted, which says when the next try may
  // come.
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

// Limits bounds what callers may take of a server, so that neither one of them nor all together
// starve the rest.
//
// Callers are told apart by their credentials (server/calls/access.h). On loopback, where nobody
// authenticates, all callers may be one person's, and only the limits on all together apply. A
// refused caller gets ResourceExhausted with what was found, the limit, and what to do. Limits on
// the lengths of texts and messages are the same for every server: executor/wire/field_limits.h.
#pragma once

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/system/monotonic_time.h"
#include "server/calls/call_rates.h"
#include "server/calls/concurrency_limit.h"

namespace meshwright::server {

// The defaults leave headroom over a thousand agents and hundreds of watchers.
struct LimitOptions {
  int32_t max_agents = 4000;  // concurrent streams
  // Its own stream, and earlier ones that broke without anyone having noticed yet.
  int32_t max_agents_per_caller = 4;
  int32_t max_watchers = 2000;  // concurrent streams
  int32_t max_watchers_per_caller = 200;
  // Running and waiting searches of one caller; ServerOptions limits those of all together.
  int32_t max_searches_per_caller = 16;
  double max_calls_per_s = 100.0;  // of each caller
  // Unary calls that were admitted and not answered yet: reads, for a moment; calls that wait for a
  // change to be stored; calls that a search answers, which count as searches too.
  int32_t max_calls = 4000;
  int32_t max_calls_per_caller = 200;
  absl::Duration max_search = absl::Hours(1);
};

// InvalidArgument for a limit that admits nothing.
absl::Status CheckLimitOptions(const LimitOptions& options);

class Limits {
 public:
  // `refused` may be empty.
  Limits(const LimitOptions& options, const MonotonicClock& now, const RefusalSink& refused);

  ConcurrencyLimit& agents() { return agents_; }
  ConcurrencyLimit& watchers() { return watchers_; }
  ConcurrencyLimit& searches() { return searches_; }
  // Pending unary calls. A call that a search answers holds a slot here and one among searches(),
  // which limits search threads and counts streams too.
  ConcurrencyLimit& calls() { return calls_; }
  CallRates& rates() { return rates_; }

  // Returns the time by which a search that begins now has to end.
  MonotonicTime SearchEnd() const { return now_() + options_.max_search; }
  bool IsOver(MonotonicTime end) const { return now_() >= end; }
  // Returns the status of a search that did not end by then.
  absl::Status SearchTookTooLong() const;

  // Returns how many calls and streams one connection may carry at once: as many as all other
  // limits admit together, since they may all share one.
  int32_t MaxStreamsOfAConnection() const;

 private:
  const LimitOptions options_;
  const MonotonicClock now_;
  ConcurrencyLimit agents_;
  ConcurrencyLimit watchers_;
  ConcurrencyLimit searches_;
  ConcurrencyLimit calls_;
  CallRates rates_;
};

}  // namespace meshwright::server

// Limits bounds how much of a server callers may use, so that one caller can't starve the others,
// and all callers together can't overload the server.
//
// Callers are told apart by their credentials (server/calls/access.h). On loopback nobody
// authenticates, and all calls may come from one person; only the limits on the total apply there.
// A refused caller gets ResourceExhausted, which says which limit is reached and what to do. Limits
// on the lengths of texts and messages are the same for every server: executor/wire/field_limits.h.
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
  int32_t max_connections = 8192;  // see HighestConnectionDescriptor()
  int32_t max_agents = 4000;       // concurrent streams
  // Concurrent streams of one caller. An agent has one stream. For a while, its earlier streams
  // count too, if they broke and the server has not noticed yet.
  int32_t max_agents_per_caller = 4;
  int32_t max_watchers = 2000;  // concurrent streams
  int32_t max_watchers_per_caller = 200;
  // Running and waiting searches of one caller; ServerOptions limits the total.
  int32_t max_searches_per_caller = 16;
  double max_calls_per_s = 100.0;  // of each caller
  // Unary calls that were admitted and not answered yet: short reads, calls that wait for a change
  // to be stored, and calls that a search answers. The last kind counts as searches too.
  int32_t max_calls = 4000;
  int32_t max_calls_per_caller = 200;
  absl::Duration max_search = absl::Hours(1);
};

// Returns InvalidArgument for a limit that is out of range, such as one that admits nothing.
absl::Status CheckLimitOptions(const LimitOptions& options);

class Limits {
 public:
  // `refused` may be empty.
  Limits(const LimitOptions& options, const MonotonicClock& now, const RefusalSink& refused);

  ConcurrencyLimit& agents() { return agents_; }
  ConcurrencyLimit& watchers() { return watchers_; }
  ConcurrencyLimit& searches() { return searches_; }
  // Limits pending unary calls. A call that a search answers holds a slot here and one of
  // searches(), which counts Ask streams too.
  ConcurrencyLimit& calls() { return calls_; }
  CallRates& rates() { return rates_; }

  // Returns the time by which a search that begins now has to end.
  MonotonicTime SearchEnd() const { return now_() + options_.max_search; }
  bool IsOver(MonotonicTime end) const { return now_() >= end; }
  // Returns the status of a search that did not end by SearchEnd().
  absl::Status SearchTookTooLong() const;

  // Returns how many calls and streams one connection may carry simultaneously. Since all callers
  // may share one connection, this exceeds the sum of the limits on agents, watchers and calls.
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

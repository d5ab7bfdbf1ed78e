// How much of a server its callers may take, so that none of them, nor all together, leave nothing
// for the rest.
//
// Callers are told apart by who they say they are (server/calls/access.h). On loopback, where
// nobody is asked, all of them may be one person's, and only what holds for all together counts.
// Who is refused gets ResourceExhausted with a sentence of what was found, the limit, and what to
// do. How long texts and messages may be is the same for every server:
// executor/wire/field_limits.h.
#pragma once

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/system/monotonic_time.h"
#include "server/calls/call_rates.h"
#include "server/calls/concurrency_limit.h"

namespace meshwright::server {

// The defaults leave room around a thousand agents and hundreds of watchers.
struct LimitOptions {
  int32_t max_agents = 4000;  // streams at once
  // Its own, and those before it that broke and that nobody has noticed yet.
  int32_t max_agents_per_caller = 4;
  int32_t max_watchers = 2000;  // streams at once
  int32_t max_watchers_per_caller = 200;
  // That run and that wait; of all together as many as ServerOptions says.
  int32_t max_searches_per_caller = 16;
  double max_calls_per_s = 100.0;  // that each caller begins
  // Unary calls that are let in and not answered: those that read, for a moment; those that wait
  // for a change to be stored; those that a search answers, which count as searches too.
  int32_t max_calls = 4000;
  int32_t max_calls_per_caller = 200;
  absl::Duration max_search = absl::Hours(1);
};

// InvalidArgument for a limit that lets nothing through.
absl::Status CheckLimitOptions(const LimitOptions& options);

class Limits {
 public:
  // `refused` may be empty.
  Limits(const LimitOptions& options, const MonotonicClock& now, const RefusalSink& refused);

  ConcurrencyLimit& agents() { return agents_; }
  ConcurrencyLimit& watchers() { return watchers_; }
  ConcurrencyLimit& searches() { return searches_; }
  // Pending unary calls. A search that answers one has a place here and one among searches(), which
  // is about threads to search on, of which streams take some as well.
  ConcurrencyLimit& calls() { return calls_; }
  CallRates& rates() { return rates_; }

  // When a search that begins now has to end.
  MonotonicTime SearchEnd() const { return now_() + options_.max_search; }
  bool IsOver(MonotonicTime end) const { return now_() >= end; }
  // What one that did not gets.
  absl::Status SearchTookTooLong() const;

  // Calls and streams that one connection may have at once: all that the other limits let through,
  // for they may share one.
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

#include "server/calls/limits.h"

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"

namespace meshwright::server {
namespace {

constexpr int32_t kMostStreams = 1'000'000;
// Searches that stream their progress, health checks, and calls that are about to be refused.
constexpr int32_t kOtherCalls = 1000;

}  // namespace

absl::Status CheckLimitOptions(const LimitOptions& options) {
  RETURN_IF_ERROR(CheckRange("max_connections", options.max_connections, 1, kMostStreams));
  RETURN_IF_ERROR(CheckRange("max_agents", options.max_agents, 1, kMostStreams));
  RETURN_IF_ERROR(CheckRange("max_watchers", options.max_watchers, 1, kMostStreams));
  RETURN_IF_ERROR(
      CheckRange("max_watchers_per_caller", options.max_watchers_per_caller, 1, kMostStreams));
  RETURN_IF_ERROR(
      CheckRange("max_searches_per_caller", options.max_searches_per_caller, 1, kMostStreams));
  RETURN_IF_ERROR(CheckPositive("max_calls_per_s", options.max_calls_per_s));
  RETURN_IF_ERROR(CheckRange("max_calls", options.max_calls, 1, kMostStreams));
  RETURN_IF_ERROR(
      CheckRange("max_calls_per_caller", options.max_calls_per_caller, 1, kMostStreams));
  return CheckPositive("max_search_s", absl::ToDoubleSeconds(options.max_search));
}

Limits::Limits(const LimitOptions& options, const MonotonicClock& now, const RefusalSink& refused)
    : options_(options),
      now_(now),
      agents_({.things = "agents",
               .flag = "--max-agents",
               .flag_per_caller = "",
               .most = options.max_agents,
               .most_per_caller = options.max_agents_per_caller},
              refused),
      watchers_({.things = "watchers",
                 .flag = "--max-watchers",
                 .flag_per_caller = "--max-watchers-per-caller",
                 .most = options.max_watchers,
                 .most_per_caller = options.max_watchers_per_caller},
                refused),
      searches_({.things = "searches",
                 .flag = "",
                 .flag_per_caller = "--max-searches-per-caller",
                 .most = 0,
                 .most_per_caller = options.max_searches_per_caller},
                refused),
      calls_({.things = "calls",
              .flag = "--max-calls",
              .flag_per_caller = "--max-calls-per-caller",
              .most = options.max_calls,
              .most_per_caller = options.max_calls_per_caller},
             refused),
      rates_(options.max_calls_per_s, now, refused) {}

absl::Status Limits::SearchTookTooLong() const {
  return absl::DeadlineExceededError(
      absl::StrCat("the search reached the limit of ", absl::ToDoubleSeconds(options_.max_search),
                   " s (serve --max-search-s): ask for fewer layouts, as with --where, or for "
                   "fewer sizes"));
}

int32_t Limits::MaxStreamsOfAConnection() const {
  return options_.max_agents + options_.max_watchers + options_.max_calls + kOtherCalls;
}

}  // namespace meshwright::server

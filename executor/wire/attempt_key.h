// AttemptKey names one attempt at one trial in assignments, heartbeats and results.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <utility>

#include "base/system/log.h"

namespace meshwright::wire {

struct AttemptKey {
  std::string sweep;  // last segment of the sweep's resource name
  int32_t trial = 0;
  int32_t attempt = 0;

  // clang-tidy 14 mistakes the 0 with which callers compare the result for a pointer.
  friend auto operator<=>(const AttemptKey&, const AttemptKey&) = default;  // NOLINT
};

// Returns fields for a log line about the attempt, on `agent` if given.
inline LogFields AboutAttempt(const AttemptKey& key, std::string agent = "") {
  return {
      .sweep = key.sweep, .trial = key.trial, .attempt = key.attempt, .agent = std::move(agent)};
}

}  // namespace meshwright::wire

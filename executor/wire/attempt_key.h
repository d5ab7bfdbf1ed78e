// Which try at which trial: what assignments, heartbeats and results name.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <utility>

#include "base/system/log.h"

namespace meshwright::wire {

struct AttemptKey {
  std::string sweep;  // the last part of the sweep's name
  int32_t trial = 0;
  int32_t attempt = 0;

  // clang-tidy 14 takes the 0 that its answer is compared with for a pointer.
  friend auto operator<=>(const AttemptKey&, const AttemptKey&) = default;  // NOLINT
};

// For a log line about the attempt, on `agent` where that is named.
inline LogFields AboutAttempt(const AttemptKey& key, std::string agent = "") {
  return {
      .sweep = key.sweep, .trial = key.trial, .attempt = key.attempt, .agent = std::move(agent)};
}

}  // namespace meshwright::wire

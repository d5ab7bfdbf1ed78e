// Whether a result that came from another machine is one that a trial can have.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "executor/trial/trial.h"
#include "nlohmann/json.hpp"
#include "planner/spec/device_kind.h"

namespace meshwright::trial {

// What the trial was asked for.
struct ResultLimits {
  int64_t devices = 0;
  int64_t steps = 0;  // at most
  planner::DeviceKind device_kind = planner::DeviceKind::kCpu;
  std::optional<int64_t> memory_limit_bytes = std::nullopt;  // of a rank
};

// InvalidArgument, naming the first number that is not finite, below 0 where that has no meaning,
// beyond what the trial can have counted, or that others of the result contradict: a step that is
// none of those that were timed, more bytes than a rank was allowed, more FLOPs than its devices
// do. A processor's peak is a preset's guess: what it reached is held to what it measured of
// itself, with room for what else ran meanwhile.
absl::Status CheckResult(const TrialResult& result, const ResultLimits& limits);
// With `json`, the result's JSON, of a caller that needs it besides.
absl::Status CheckResult(const TrialResult& result, const nlohmann::json& json,
                         const ResultLimits& limits);

}  // namespace meshwright::trial

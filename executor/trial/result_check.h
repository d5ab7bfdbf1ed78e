// CheckResult() checks whether a result from another machine is plausible.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "executor/trial/trial.h"
#include "nlohmann/json.hpp"
#include "planner/spec/device_kind.h"

namespace meshwright::trial {

// No device or host holds more: 1 PiB.
inline constexpr int64_t kMostBytes = int64_t{1} << 50;

// The request's values for the trial, which bound its result.
struct ResultLimits {
  int64_t devices = 0;
  int64_t steps = 0;  // at most
  planner::DeviceKind device_kind = planner::DeviceKind::kCpu;
  std::optional<int64_t> memory_limit_bytes = std::nullopt;  // per rank
};

// Returns InvalidArgument for the first value that can't be right:
// - a number that is not finite, is negative although its quantity can't be negative, or exceeds
//   what the trial can have counted or a machine can hold;
// - a list that is longer than the trial's steps, its devices or 4096 allow;
// - a rank that is listed twice, or no rank although the trial was measured;
// - numbers that contradict each other: a median outside the times of the steps, more bytes than a
//   rank was allowed, or more FLOPs than the devices can do.
// A CPU's preset peak FLOP/s is a guess. A result from CPUs is therefore checked only against the
// peak that the trial measured, with a margin for other load during that measurement.
absl::Status CheckResult(const TrialResult& result, const ResultLimits& limits);
// Overload for a caller that has the result's JSON already.
absl::Status CheckResult(const TrialResult& result, const nlohmann::json& json,
                         const ResultLimits& limits);

}  // namespace meshwright::trial

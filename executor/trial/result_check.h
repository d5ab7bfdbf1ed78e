// Whether a result that came from another machine is one that a trial can have.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "executor/trial/trial.h"
#include "nlohmann/json.hpp"

namespace meshwright::trial {

// What the trial was asked for.
struct ResultLimits {
  int64_t devices = 0;
  int64_t steps = 0;  // at most
};

// InvalidArgument, naming the first number that is not finite, below 0 where that has no meaning or
// beyond what the trial can have counted. How fast it was is not judged.
absl::Status CheckResult(const TrialResult& result, const ResultLimits& limits);
// With `json`, the result's JSON, of a caller that needs it besides.
absl::Status CheckResult(const TrialResult& result, const nlohmann::json& json,
                         const ResultLimits& limits);

}  // namespace meshwright::trial

// DigestResult() turns a result that an agent delivered into what is stored of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "executor/trial/result_check.h"
#include "executor/trial/trial.h"
#include "executor/trial/utilisation.h"
#include "server/engine/engine_input.h"

namespace meshwright::server {

// The work of one step, from which a result's MFU is computed. It is the same for all trials of a
// sweep, since their plans share the model, the training and the number of devices.
struct StepWork {
  trial::PlannedWork planned;
  int64_t ranks = 0;
};

// Returns the work of a plan, or nullopt if the text is not a plan.
std::optional<StepWork> StepWorkOf(const std::string& plan_json);

// Returns what is stored of a result. The MFU is a share of the peak in `work`, whatever peak the
// worker knew, so that the trials of a sweep are comparable whichever agents ran them. An invalid
// result becomes a failed one that says why.
DigestedResult DigestResult(const trial::TrialResult& delivered,
                            const std::optional<StepWork>& work, const trial::ResultLimits& limits);

}  // namespace meshwright::server

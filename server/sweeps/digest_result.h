// Turns a result that an agent delivered into what is stored of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "executor/trial/result_check.h"
#include "executor/trial/trial.h"
#include "executor/trial/utilisation.h"
#include "server/engine/engine_input.h"

namespace meshwright::server {

// The work by which results' MFU is computed. It is the same for all trials of a sweep, whose plans
// share model, training and number of devices.
struct StepWork {
  trial::PlannedWork planned;
  int64_t ranks = 0;
};

// Returns nullopt where the text is no plan.
std::optional<StepWork> StepWorkOf(const std::string& plan_json);

// MFU is the share of the peak that the trial was planned for (`work`), whatever its worker knew,
// so that the trials of a sweep are comparable on whichever agents they ran. An invalid result
// becomes a failed one that says why.
DigestedResult DigestResult(const trial::TrialResult& delivered,
                            const std::optional<StepWork>& work, const trial::ResultLimits& limits);

}  // namespace meshwright::server

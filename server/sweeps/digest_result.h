// What is stored of a result that an agent delivered.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "executor/trial/result_check.h"
#include "executor/trial/trial.h"
#include "executor/trial/utilisation.h"
#include "server/engine/engine_input.h"

namespace meshwright::server {

// What the MFU of results are worked out from. It is the same for all trials of a sweep, whose
// plans are for one model, one training and as many devices.
struct StepWork {
  trial::PlannedWork planned;
  int64_t ranks = 0;
};

// Nothing where the text is no plan.
std::optional<StepWork> StepWorkOf(const std::string& plan_json);

// MFU are shares of the peak that the trial was planned for (`work`), whatever its worker knew:
// those of a sweep compare, on whichever agents they ran. A result that can't be one becomes a
// failed one that says why.
DigestedResult DigestResult(const trial::TrialResult& delivered,
                            const std::optional<StepWork>& work, const trial::ResultLimits& limits);

}  // namespace meshwright::server

// DigestResult() turns a result that an agent delivered into the form that is stored.
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

// Returns the stored form of a result. Its MFU is a share of the peak FLOP/s in `work`, and not of
// the peak that the worker assumed, so that the MFU of a sweep's trials is comparable across
// agents. An invalid result becomes a failed result that says what is invalid.
DigestedResult DigestResult(const trial::TrialResult& delivered,
                            const std::optional<StepWork>& work, const trial::ResultLimits& limits);

}  // namespace meshwright::server

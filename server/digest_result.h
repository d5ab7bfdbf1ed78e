// What is stored of a result that an agent delivered.
#pragma once

#include <string>

#include "executor/trial/result_check.h"
#include "executor/trial/trial.h"
#include "server/engine/engine_input.h"

namespace meshwright::server {

// MFU are shares of the peak that the trial was planned for (`plan_json`), whatever its worker
// knew: those of a sweep compare, on whichever agents they ran. A result that can't be one becomes
// a failed one that says why.
DigestedResult DigestResult(const trial::TrialResult& delivered, const std::string& plan_json,
                            const trial::ResultLimits& limits);

}  // namespace meshwright::server

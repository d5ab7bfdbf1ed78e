// How much of what ranks could compute a step's model FLOPs are.
#pragma once

#include <cstdint>

#include "executor/trial/trial.h"

namespace meshwright::trial {

// Fills in every MFU of a step by `ranks` ranks, whose step_s and measured_peak_flops `result` has:
// by PaLM's definition and Megatron-LM's, each against the peak that was measured and, where the
// plan has one, against the peak of the cluster that it was planned for. A predicted MFU is against
// the latter.
void AddUtilisation(const TrialPlan& plan, int64_t ranks, TrialResult& result);

}  // namespace meshwright::trial

// How much of what ranks could compute a step's model FLOPs are.
#pragma once

#include <cstdint>
#include <optional>

#include "executor/trial/trial.h"

namespace meshwright::trial {

// What of a plan an MFU follows from, besides the time of a step.
struct PlannedWork {
  double palm_flops = 0.0;           // of a step, by PaLM's definition
  double causal_flops = 0.0;         // of a step, by Megatron-LM's
  std::optional<double> peak_flops;  // of a rank, of the cluster that it was planned for
};
PlannedWork PlannedWorkOf(const TrialPlan& plan);

// Fills in every MFU of a step by `ranks` ranks, whose step_s and measured_peak_flops `result` has:
// by PaLM's definition and Megatron-LM's, each against the peak that was measured and, where the
// plan has one, against the peak of the cluster that it was planned for. A predicted MFU is against
// the latter.
void AddUtilisation(const TrialPlan& plan, int64_t ranks, TrialResult& result);
void AddUtilisation(const PlannedWork& work, int64_t ranks, TrialResult& result);

}  // namespace meshwright::trial

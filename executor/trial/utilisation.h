// AddUtilisation() computes model FLOPs utilisation (MFU) from step times.
#pragma once

#include <cstdint>
#include <optional>

#include "executor/trial/trial.h"

namespace meshwright::trial {

// The values of a plan on which MFU depends, in addition to the step time.
struct PlannedWork {
  double palm_flops = 0.0;           // per step, PaLM definition
  double causal_flops = 0.0;         // per step, Megatron-LM definition
  std::optional<double> peak_flops;  // per rank, of the cluster planned for
};
PlannedWork PlannedWorkOf(const TrialPlan& plan);

// Fills in the MFU fields of `result`, which `ranks` ranks measured, from its step_s and
// measured_peak_flops. Computes MFU by PaLM's definition and by Megatron-LM's, both as shares of
// the measured peak. If the plan has the peak of the cluster planned for, also fills in both as
// shares of that peak, like predicted MFU.
void AddUtilisation(const TrialPlan& plan, int64_t ranks, TrialResult& result);
// Overload for a caller that has the plan's PlannedWork already.
void AddUtilisation(const PlannedWork& work, int64_t ranks, TrialResult& result);

}  // namespace meshwright::trial

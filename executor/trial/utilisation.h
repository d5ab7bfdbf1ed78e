// Computes model FLOPs utilisation (MFU) from step times.
#pragma once

#include <cstdint>
#include <optional>

#include "executor/trial/trial.h"

namespace meshwright::trial {

// What MFU depends on besides the step time.
struct PlannedWork {
  double palm_flops = 0.0;           // per step, PaLM definition
  double causal_flops = 0.0;         // per step, Megatron-LM definition
  std::optional<double> peak_flops;  // per rank, of the cluster planned for
};
PlannedWork PlannedWorkOf(const TrialPlan& plan);

// Fills in every MFU of a step by `ranks` ranks from result's step_s and measured_peak_flops:
// PaLM's and Megatron-LM's definition, each against the measured peak and, where the plan has one,
// the peak of the cluster planned for. Predicted MFU refers to the latter.
void AddUtilisation(const TrialPlan& plan, int64_t ranks, TrialResult& result);
void AddUtilisation(const PlannedWork& work, int64_t ranks, TrialResult& result);

}  // namespace meshwright::trial

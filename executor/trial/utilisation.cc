#include "executor/trial/utilisation.h"

#include "planner/block/parameters.h"

namespace meshwright::trial {

PlannedWork PlannedWorkOf(const TrialPlan& plan) {
  const planner::StepFlops flops = planner::StepFlopsOf(plan.model, plan.training);
  return {.palm_flops = flops.palm, .causal_flops = flops.causal, .peak_flops = plan.peak_flops};
}

void AddUtilisation(const TrialPlan& plan, int64_t ranks, TrialResult& result) {
  AddUtilisation(PlannedWorkOf(plan), ranks, result);
}

void AddUtilisation(const PlannedWork& work, int64_t ranks, TrialResult& result) {
  if (!(result.step_s > 0.0)) return;
  const double rank_seconds = result.step_s * static_cast<double>(ranks);
  if (result.measured_peak_flops > 0.0) {
    result.mfu = work.palm_flops / (rank_seconds * result.measured_peak_flops);
    result.mfu_causal = work.causal_flops / (rank_seconds * result.measured_peak_flops);
  }
  result.peak_flops = work.peak_flops;
  if (work.peak_flops.has_value()) {
    result.mfu_of_peak = work.palm_flops / (rank_seconds * *work.peak_flops);
    result.mfu_causal_of_peak = work.causal_flops / (rank_seconds * *work.peak_flops);
  }
}

}  // namespace meshwright::trial

#include "executor/trial/utilisation.h"

#include "planner/block/parameters.h"

namespace meshwright::trial {

void AddUtilisation(const TrialPlan& plan, int64_t ranks, TrialResult& result) {
  if (!(result.step_s > 0.0)) return;
  const double palm_flops = planner::PalmStepFlops(plan.model, plan.training);
  const double causal_flops = planner::CausalStepFlops(plan.model, plan.training);
  const double rank_seconds = result.step_s * static_cast<double>(ranks);
  if (result.measured_peak_flops > 0.0) {
    result.mfu = palm_flops / (rank_seconds * result.measured_peak_flops);
    result.mfu_causal = causal_flops / (rank_seconds * result.measured_peak_flops);
  }
  result.peak_flops = plan.peak_flops;
  if (plan.peak_flops.has_value()) {
    result.mfu_of_peak = palm_flops / (rank_seconds * *plan.peak_flops);
    result.mfu_causal_of_peak = causal_flops / (rank_seconds * *plan.peak_flops);
  }
}

}  // namespace meshwright::trial

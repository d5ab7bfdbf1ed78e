#include "planner/estimate/estimate.h"

#include <cmath>

#include "planner/memory/oom_probability.h"
#include "planner/spec/parameters.h"

namespace meshwright {

double StepTimeSigma(const ClusterSpec& cluster, const FrameworkProfile& profile) {
  return profile.step_time_sigma > 0.0 ? profile.step_time_sigma : cluster.device.step_time_sigma;
}

Estimate EstimateLayout(const EstimateContext& context, const Layout& layout) {
  return EstimateLayout(context, layout, EstimateMemory(context, layout));
}

Estimate EstimateLayout(const EstimateContext& context, const Layout& layout,
                        const MemoryEstimate& memory) {
  Estimate estimate;
  estimate.memory = memory;
  estimate.fraction_of_device = static_cast<double>(memory.total_bytes()) /
                                static_cast<double>(context.cluster.device.memory_bytes);
  estimate.time = EstimateStepTime(context, layout, estimate.fraction_of_device);
  const double step_s = estimate.time.step_s();
  const double peak_flops =
      RankPeakFlops(context.cluster, context.training.precision, layout.devices()) *
      static_cast<double>(layout.devices());
  estimate.mfu = PalmStepFlops(context.model, context.training) / (step_s * peak_flops);
  estimate.mfu_causal = CausalStepFlops(context.model, context.training) / (step_s * peak_flops);
  estimate.tokens_per_s = static_cast<double>(context.training.global_batch) *
                          static_cast<double>(context.training.seq_len) / step_s;
  estimate.oom_probability = OomProbability(context.profile, estimate.fraction_of_device);
  const double spread =
      std::exp(kEightyPercentSigmas * StepTimeSigma(context.cluster, context.profile));
  estimate.step_low_s = step_s / spread;
  estimate.step_high_s = step_s * spread;
  return estimate;
}

}  // namespace meshwright

// What one layout needs and how fast it is: memory of the fullest device, time of one step, MFU.
//
// Pure functions of (model, cluster, training, layout, profile): no clock, no randomness, and no
// allocation for shapes that were met before, so that a search can call them for every point.
#pragma once

#include "planner/cost/step_time.h"
#include "planner/memory/rank_memory.h"
#include "planner/profile/planned_layout.h"

namespace meshwright::planner {

// 80 % of a normal distribution lie within this many standard deviations of its mean.
inline constexpr double kEightyPercentSigmas = 1.2816;

struct Estimate {
  MemoryEstimate memory;
  double fraction_of_device = 0.0;  // memory.total_bytes() over the device's memory
  TimeEstimate time;
  double mfu = 0.0;         // PaLM definition: full attention, N with both embeddings
  double mfu_causal = 0.0;  // Megatron-LM definition: half of the attention, logits once
  double tokens_per_s = 0.0;
  // Model FLOP/s of one device, by the definitions of mfu and of mfu_causal, in 1e12.
  double tflops_per_gpu = 0.0;
  double tflops_per_gpu_causal = 0.0;
  double tokens_per_s_per_gpu = 0.0;
  double oom_probability = 0.0;  // calibrated on published runs
  // 80 % of runs like this one take between these (planner/estimate/step_interval.h).
  double step_low_s = 0.0;
  double step_high_s = 0.0;

  friend bool operator==(const Estimate&, const Estimate&) = default;
};

Estimate EstimateLayout(const PlannedLayout& planned);
// Requires a layout that CheckLayout() accepts.
inline Estimate EstimateLayout(const EstimateContext& context, const Layout& layout) {
  return EstimateLayout(PlannedLayout(context, layout));
}
// The same where the memory is known already.
Estimate EstimateLayout(const PlannedLayout& planned, const MemoryEstimate& memory);

}  // namespace meshwright::planner

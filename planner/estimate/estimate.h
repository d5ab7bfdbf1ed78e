// Estimates one layout: bytes of memory on the fullest device, seconds of one step, and MFU.
//
// The functions are pure in (model, cluster, training, layout, profile). They use no clock and no
// randomness and allocate nothing for shapes that they have seen before, so that a search can call
// them for every point.
#pragma once

#include "planner/cost/step_time.h"
#include "planner/memory/rank_memory.h"
#include "planner/profile/framework_profile.h"
#include "planner/profile/planned_layout.h"

namespace meshwright::planner {

struct Estimate {
  MemoryEstimate memory;
  double fraction_of_device = 0.0;  // memory.total_bytes() over the device's memory
  // Bytes in the host memory of the node whose devices hold the most there.
  int64_t host_node_bytes = 0;
  TimeEstimate time;
  double mfu = 0.0;         // by PaLM: full attention, N with both embeddings
  double mfu_causal = 0.0;  // by Megatron-LM: half of the attention, the logits counted once
  double tokens_per_s = 0.0;
  // Model TFLOP/s of one device, by the definitions of mfu and of mfu_causal.
  double tflops_per_gpu = 0.0;
  double tflops_per_gpu_causal = 0.0;
  double tokens_per_s_per_gpu = 0.0;
  double oom_probability = 0.0;  // calibrated on published runs
  // 80 % of runs like this one have a step time in this interval
  // (planner/estimate/step_interval.h).
  double step_low_s = 0.0;
  double step_high_s = 0.0;
  // Over all devices of the nodes that the layout takes (planner/estimate/power.h); 0 where the
  // cluster does not give its devices' power.
  double tokens_per_joule = 0.0;

  friend bool operator==(const Estimate&, const Estimate&) = default;
};

// Returns the probability that a run goes out of memory, by a logistic function of the share of the
// device that the estimate fills: 1/2 at profile.kept.oom_center, 0.73 one oom_width above it. No
// formula has fragmentation and the timing of buffers, so of published runs that fill the same
// share of a device some fit and some do not (Hagemann et al., arXiv 2311.05610: about 14 % either
// side of 93 %).
double OomProbability(const FrameworkProfile& profile, double fraction_of_device);

// Returns the estimate of a layout that CheckLayout() accepts.
Estimate EstimateLayout(const PlannedLayout& planned);
inline Estimate EstimateLayout(const EstimateContext& context, const Layout& layout) {
  return EstimateLayout(PlannedLayout(context, layout));
}
// Returns the same for a layout whose memory the caller has already.
Estimate EstimateLayout(const PlannedLayout& planned, const MemoryEstimate& memory);

}  // namespace meshwright::planner

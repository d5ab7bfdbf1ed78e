// Estimates one layout: bytes of memory on the fullest device, seconds of one step, and MFU.
//
// The functions are pure in (model, cluster, training, layout, profile). They use no clock and no
// randomness. They allocate memory only for shapes that they have not seen yet, so that a search
// can call them for every layout.
#pragma once

#include <optional>

#include "planner/cost/step_time.h"
#include "planner/memory/rank_memory.h"
#include "planner/profile/framework_profile.h"
#include "planner/profile/planned_layout.h"

namespace meshwright::planner {

struct Estimate {
  MemoryEstimate memory;
  double fraction_of_device = 0.0;  // memory.total_bytes() / memory of the device
  // Bytes of host memory that the layout fills on the node that needs the most.
  int64_t host_node_bytes = 0;
  TimeEstimate time;
  double mfu = 0.0;         // PaLM's definition: full attention; embedding and head both count
  double mfu_causal = 0.0;  // Megatron-LM's: half of the attention, the logits counted once
  double tokens_per_s = 0.0;
  // Model TFLOP/s of one device, by the definitions of mfu and of mfu_causal.
  double tflops_per_gpu = 0.0;
  double tflops_per_gpu_causal = 0.0;
  double tokens_per_s_per_gpu = 0.0;
  double oom_probability = 0.0;  // calibrated on published runs
  // 80 % of runs like this one have a peak between these bytes (planner/estimate/peak_interval.h).
  int64_t peak_low_bytes = 0;
  int64_t peak_high_bytes = 0;
  // 80 % of runs like this one have a step time between step_low_s and step_high_s
  // (planner/estimate/step_interval.h).
  double step_low_s = 0.0;
  double step_high_s = 0.0;
  // The uncorrected estimates, if the user's own runs corrected this estimate
  // (EstimateContext::correction).
  std::optional<double> step_before_s;
  std::optional<int64_t> peak_before_bytes;
  // Counts all devices of the nodes that the layout takes (planner/estimate/power.h). 0 if the
  // cluster does not give its devices' power.
  double tokens_per_joule = 0.0;

  friend bool operator==(const Estimate&, const Estimate&) = default;
};

// Returns the estimate of a layout. REQUIRES: CheckLayout() accepts the layout.
Estimate EstimateLayout(const PlannedLayout& planned);
inline Estimate EstimateLayout(const EstimateContext& context, const Layout& layout) {
  return EstimateLayout(PlannedLayout(context, layout));
}
// Does the same for callers that already have `memory`, which is EstimateMemory(planned).
Estimate EstimateLayout(const PlannedLayout& planned, const MemoryEstimate& memory);

}  // namespace meshwright::planner

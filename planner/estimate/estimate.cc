#include "planner/estimate/estimate.h"

#include <cmath>

#include "planner/block/parameters.h"
#include "planner/estimate/power.h"
#include "planner/estimate/step_interval.h"

namespace meshwright::planner {
namespace {

constexpr double kTera = 1e12;

}  // namespace

double OomProbability(const FrameworkProfile& profile, double fraction_of_device) {
  return 1.0 /
         (1.0 + std::exp((profile.kept.oom_center - fraction_of_device) / profile.kept.oom_width));
}

Estimate EstimateLayout(const PlannedLayout& planned) {
  return EstimateLayout(planned, EstimateMemory(planned));
}

Estimate EstimateLayout(const PlannedLayout& planned, const MemoryEstimate& memory) {
  const EstimateContext& context = planned.context();
  const Layout& layout = planned.layout();
  Estimate estimate;
  estimate.memory = memory;
  estimate.host_node_bytes = HostBytesOfNode(planned);
  estimate.fraction_of_device = static_cast<double>(memory.total_bytes()) /
                                static_cast<double>(context.cluster.device.memory_bytes);
  estimate.time = EstimateStepTime(planned, estimate.fraction_of_device);
  const double step_s = estimate.time.step_s();
  const auto devices = static_cast<double>(layout.devices());
  const double peak_flops =
      RankPeakFlops(context.cluster, context.training.precision, layout.devices());
  const StepFlops step_flops = StepFlopsOf(context.model, context.training);
  const double flops = step_flops.palm / (step_s * devices);
  const double causal_flops = step_flops.causal / (step_s * devices);
  estimate.mfu = flops / peak_flops;
  estimate.mfu_causal = causal_flops / peak_flops;
  estimate.tflops_per_gpu = flops / kTera;
  estimate.tflops_per_gpu_causal = causal_flops / kTera;
  estimate.tokens_per_s = static_cast<double>(context.training.global_batch) *
                          static_cast<double>(context.training.seq_len) / step_s;
  estimate.tokens_per_s_per_gpu = estimate.tokens_per_s / devices;
  estimate.oom_probability = OomProbability(context.profile, estimate.fraction_of_device);
  const EnumSet<Unfitted> unfitted = UnfittedOf(context.model, context.training);
  const StepInterval interval = StepIntervalOf(context.cluster, context.profile, unfitted,
                                               LevelOf(context.cluster, context.profile));
  estimate.step_low_s = step_s * interval.low;
  estimate.step_high_s = step_s * interval.high;
  estimate.tokens_per_joule =
      EnergyOf(context.cluster, layout.devices(), estimate.time, estimate.tokens_per_s)
          .tokens_per_joule;
  return estimate;
}

}  // namespace meshwright::planner

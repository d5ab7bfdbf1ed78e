#include "planner/estimate/estimate.h"

#include <cmath>

#include "planner/block/parameters.h"
#include "planner/cost/offload_time.h"
#include "planner/estimate/peak_interval.h"
#include "planner/estimate/power.h"
#include "planner/estimate/step_interval.h"

namespace meshwright::planner {
namespace {

constexpr double kTera = 1e12;

void Correct(const Correction& correction, const Layout& layout, Estimate& estimate) {
  estimate.peak_before_bytes = estimate.memory.total_bytes() - estimate.memory.correction_bytes;
  estimate.step_before_s = estimate.time.step_s();
  estimate.time.Scale(correction.StepFactor(layout));
}

StepInterval IntervalOf(const EstimateContext& context, const Layout& layout) {
  if (context.correction != nullptr && context.correction->corrects_steps()) {
    const double spread = std::exp(kEightyPercentSigmas * context.correction->StepSigma(layout));
    return {.low = 1.0 / spread, .high = spread};
  }
  return StepIntervalOf(context.cluster, context.profile,
                        UnfittedOf(context.model, context.training, context.cluster.device_kind()),
                        LevelOf(context.cluster, context.profile));
}

int64_t Times(double factor, int64_t bytes) {
  return std::llround(factor * static_cast<double>(bytes));
}

}  // namespace

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
  if (memory.paged_bytes > 0) {
    estimate.time[TimePart::kOffload] += PagingTime(planned, memory.paged_bytes);
  }
  if (context.correction != nullptr) Correct(*context.correction, layout, estimate);
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
  const ErrorSigma peak_error = PeakErrorOf(context);
  estimate.oom_probability =
      OomCurveOf(context.profile, peak_error.shared).At(estimate.fraction_of_device);
  const PeakInterval peaks = PeakIntervalOf(peak_error);
  estimate.peak_low_bytes = Times(peaks.low, memory.total_bytes());
  estimate.peak_high_bytes = Times(peaks.high, memory.total_bytes());
  const StepInterval interval = IntervalOf(context, layout);
  estimate.step_low_s = step_s * interval.low;
  estimate.step_high_s = step_s * interval.high;
  estimate.tokens_per_joule =
      EnergyOf(context.cluster, layout.devices(), estimate.time, estimate.tokens_per_s)
          .tokens_per_joule;
  return estimate;
}

}  // namespace meshwright::planner

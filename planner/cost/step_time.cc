#include "planner/cost/step_time.h"

#include "planner/cost/data_parallel.h"
#include "planner/cost/optimizer_time.h"
#include "planner/cost/stage_time.h"
#include "planner/cost/step_shape.h"
#include "planner/cost/stragglers.h"

namespace meshwright::planner {
namespace {

PipelineRanks SumRanks(const StepShape& step, const StageTimes& times) {
  PipelineRanks pipeline;
  StageTime time;
  double total_s = 0.0;
  int32_t timed = -1;  // the rank that was timed last
  for (int32_t rank = 0; rank < step.layout.pp; ++rank) {
    const int32_t alike = step.planned.FirstAlike(rank);
    if (alike != timed) {
      time = times.OfRank(alike);
      total_s = time.total_s();
      timed = alike;
    }
    pipeline.Add(time, total_s, 1);
  }
  return pipeline;
}

}  // namespace

TimeEstimate EstimateStepTime(const PlannedLayout& planned, double fraction_of_device) {
  const EstimateContext& context = planned.context();
  const Layout& layout = planned.layout();
  const StepShape step(planned);
  const PipelineRanks pipeline = SumRanks(step, StageTimes(step));
  const int64_t micro_batches = layout.MicroBatches(context.training.global_batch);
  const UnitParameters parameters = planned.MostTrained();
  const PipelineLinks links = {.core_share = step.device.share,
                               .hop_s = layout.pp > 1 ? HopTime(step) : 0.0,
                               .straggler_factor = StragglerFactor(
                                   context.cluster.device.straggler_sigma, layout.devices())};

  TimeEstimate time = PipelineTime(context.profile, layout, pipeline, micro_batches, links);
  time[TimePart::kPressure] =
      AllocatorPressure(context.profile, layout, fraction_of_device) * time.step_s();
  time[TimePart::kDp] =
      ExposedDataParallelTime(
          step, parameters, micro_batches,
          layout.zero >= 2 ? pipeline.slowest_s : pipeline.slowest.durations.backward_s()) +
      TiedEmbeddingTime(step) + SelectionBiasTime(step);
  time[TimePart::kOptimizer] = OptimizerTime(step);
  time[TimePart::kOffload] += LongestHostUpdate(step).exposed_copies_s;
  return time;
}

}  // namespace meshwright::planner

#include "planner/cost/measured_step.h"

#include <algorithm>

#include "planner/cost/data_parallel.h"
#include "planner/cost/stage_time.h"
#include "planner/cost/stragglers.h"
#include "planner/memory/layout_parameters.h"
#include "planner/schedule/placement.h"
#include "planner/schedule/simulator.h"
#include "planner/spec/field_error.h"
#include "planner/spec/status_macros.h"

namespace meshwright {
namespace {

// A stage's time of one micro-batch on all ranks of its groups.
struct StageParts {
  StageDurations durations;
  double compute_s = 0.0;
  double tp_s = 0.0;
  double cp_s = 0.0;
};

StageParts WithCommunication(const MeasuredStage& stage, const StageTime& model) {
  // A ring passes keys and values once in the forward and, with their gradients, twice in the
  // backward.
  const double cp_forward_s = model.cp_s / 3.0;
  StageParts parts = {.durations = stage.compute,
                      .compute_s = stage.compute.total_s(),
                      .tp_s = stage.tp_forward_s + stage.tp_backward_s,
                      .cp_s = model.cp_s};
  parts.durations.forward_s += stage.tp_forward_s + cp_forward_s;
  parts.durations.input_gradient_s += stage.tp_backward_s + model.cp_s - cp_forward_s;
  return parts;
}

// All chunks of one pipeline rank.
StageParts SumOfRank(const Layout& layout, const std::vector<StageParts>& stages, int32_t rank) {
  StageParts sum;
  for (int32_t chunk = 0; chunk < layout.vpp; ++chunk) {
    const StageParts& stage = stages[static_cast<size_t>(StageOfChunk(layout, rank, chunk))];
    sum.durations.forward_s += stage.durations.forward_s;
    sum.durations.input_gradient_s += stage.durations.input_gradient_s;
    sum.durations.weight_gradient_s += stage.durations.weight_gradient_s;
    sum.compute_s += stage.compute_s;
    sum.tp_s += stage.tp_s;
    sum.cp_s += stage.cp_s;
  }
  return sum;
}

}  // namespace

absl::StatusOr<ComposedStep> ComposeStep(const EstimateContext& context, const Layout& layout,
                                         const MeasuredStep& measured) {
  if (measured.stages.size() != static_cast<size_t>(StageCount(layout))) {
    return FieldError("stages", std::to_string(measured.stages.size()),
                      "must be " + std::to_string(StageCount(layout)) + ", one for each chunk");
  }
  const StepShape step(context, layout);
  const StageTimes model(step);
  std::vector<StageParts> stages;
  PipelineTimes times;
  for (int32_t stage = 0; stage < StageCount(layout); ++stage) {
    stages.push_back(
        WithCommunication(measured.stages[static_cast<size_t>(stage)], model.OfStage(stage)));
    times.stages.push_back(stages.back().durations);
  }
  if (layout.pp > 1) times.hop_s = {HopTime(step)};
  const int64_t micro_batches = layout.MicroBatches(context.training.global_batch);
  ASSIGN_OR_RETURN(
      const Timeline timeline,
      SimulateLayout(layout, static_cast<int32_t>(micro_batches), times, Record::kTotals));
  StageParts slowest;
  for (int32_t rank = 0; rank < layout.pp; ++rank) {
    StageParts sum = SumOfRank(layout, stages, rank);
    if (sum.durations.total_s() > slowest.durations.total_s()) slowest = sum;
  }
  const auto m = static_cast<double>(micro_batches);
  ComposedStep composed;
  composed.compute_s = m * slowest.compute_s;
  composed.tp_s = m * slowest.tp_s;
  composed.cp_s = m * slowest.cp_s;
  composed.bubble_s = std::max(0.0, timeline.makespan_s - m * slowest.durations.total_s());
  composed.straggler_s =
      (StragglerFactor(context.cluster.device.straggler_sigma, layout.devices()) - 1.0) *
      timeline.makespan_s;
  const auto parameters = static_cast<double>(LayoutParameters(context, layout).Most());
  const double window_s =
      layout.zero >= 2 ? slowest.durations.total_s() : slowest.durations.backward_s();
  composed.dp_s =
      ExposedDataParallelTime(step, parameters, micro_batches, window_s) + TiedEmbeddingTime(step);
  composed.optimizer_s = measured.optimizer_s;
  composed.step_s = composed.compute_s + composed.optimizer_s + composed.tp_s + composed.cp_s +
                    composed.bubble_s + composed.dp_s + composed.straggler_s;
  return composed;
}

}  // namespace meshwright

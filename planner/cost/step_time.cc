#include "planner/cost/step_time.h"

#include <algorithm>

#include "planner/cost/data_parallel.h"
#include "planner/cost/optimizer_time.h"
#include "planner/cost/stage_time.h"
#include "planner/cost/step_shape.h"
#include "planner/cost/stragglers.h"
#include "planner/schedule/closed_forms.h"

namespace meshwright::planner {
namespace {

// The ranks of a pipeline, one micro-batch each.
struct Pipeline {
  StageTime slowest;
  double slowest_s = 0.0;  // its total
  TimeParts sum;           // over all ranks
};

Pipeline SumRanks(const StepShape& step, const StageTimes& times) {
  Pipeline pipeline;
  StageTime time;
  double total_s = 0.0;
  int32_t timed = -1;  // the rank whose time that is
  for (int32_t rank = 0; rank < step.layout.pp; ++rank) {
    const int32_t alike = step.planned.FirstAlike(rank);
    if (alike != timed) {
      time = times.OfRank(alike);
      total_s = time.total_s();
      timed = alike;
    }
    pipeline.sum.Add(time.parts);
    if (total_s <= pipeline.slowest_s) continue;
    pipeline.slowest = time;
    pipeline.slowest_s = total_s;
  }
  return pipeline;
}

// Idle time of the slowest rank. Unequal ranks fill and drain once: the closed forms for unequal
// stages. ZB-H1 hides behind weight gradients what its rank has of them; ZB-V with unequal parts is
// not better than an interleaved pipeline of two chunks. Breadth-first with few micro-batches goes
// by the slowest rank.
double BubbleSeconds(const StepShape& step, const Pipeline& pipeline, int64_t micro_batches) {
  const Layout& layout = step.layout;
  if (layout.pp == 1) return 0.0;
  const double fill_s = (pipeline.sum.total_s() - pipeline.slowest_s) / layout.vpp;
  switch (layout.schedule) {
    case ScheduleKind::kZbH1: {
      const StageDurations& slowest = pipeline.slowest.durations;
      const double exposed = ZbH1Bubble(2, slowest) / slowest.total_s();
      const double spread_s = layout.pp * pipeline.slowest_s - pipeline.sum.total_s();
      return std::min(fill_s, fill_s * exposed + spread_s);
    }
    case ScheduleKind::kZbV:
      return std::max(fill_s, BubbleTime(layout, micro_batches, pipeline.slowest.durations));
    case ScheduleKind::kBreadthFirst:
      if (micro_batches >= layout.pp) return fill_s;
      return std::max(fill_s, BubbleTime(layout, micro_batches, pipeline.slowest.durations));
    default:
      return fill_s;
  }
}

// Micro-batches and bubble; the slowest rank sets the pace.
void AddPipeline(const StepShape& step, const Pipeline& pipeline, int64_t micro_batches,
                 TimeEstimate& time) {
  const auto m = static_cast<double>(micro_batches);
  const double bubble_s = BubbleSeconds(step, pipeline, micro_batches);
  const double share = step.device.share;
  if (share >= 1.0) {
    time.Add(pipeline.slowest.parts, m);
    time[TimePart::kBubble] = bubble_s;
    return;
  }
  // Ranks that share cores leave theirs to the others while they wait, so all stages together keep
  // the cores busy until the chain of micro-batches, each at the speed of a whole core, takes
  // longer.
  time.Add(pipeline.sum, m / step.layout.pp);
  const double chain_s = (m * pipeline.slowest_s + bubble_s) * share;
  time[TimePart::kBubble] = std::max(0.0, chain_s - time.step_s());
}

// Hops that no schedule hides, and, where a rank has several chunks, what each of its many sends
// costs the host and what does not fit behind a chunk's forward.
double PipelineHopsTime(const StepShape& step, const Pipeline& pipeline, int64_t micro_batches) {
  const Layout& layout = step.layout;
  if (layout.pp == 1) return 0.0;
  const double hop_s = HopTime(step);
  const double exposed_s = ExposedHops(layout, micro_batches) * hop_s;
  if (layout.vpp == 1) return exposed_s;
  const double chunk_s = pipeline.slowest.durations.forward_s / layout.vpp;
  const double sends = 2.0 * static_cast<double>(micro_batches) * layout.vpp;
  return exposed_s +
         sends * std::max(step.context.profile.communication.pipeline_hop_s, hop_s - chunk_s);
}

// Where micro-batches overlap in a pipeline, their tensors come and go in no stack's order: near
// the device's capacity the caching allocator then gives blocks back and asks for others, which
// stops the device. A share of the time of all micro-batches.
double AllocatorPressure(const FrameworkProfile& profile, const Layout& layout,
                         double fraction_of_device) {
  if (layout.pp == 1) return 0.0;
  return profile.kept.pressure_slope *
         std::max(0.0, fraction_of_device - profile.kept.pressure_from);
}

}  // namespace

TimeEstimate EstimateStepTime(const PlannedLayout& planned, double fraction_of_device) {
  const EstimateContext& context = planned.context();
  const Layout& layout = planned.layout();
  const StepShape step(planned);
  const Pipeline pipeline = SumRanks(step, StageTimes(step));
  const int64_t micro_batches = layout.MicroBatches(context.training.global_batch);
  const UnitParameters parameters = planned.MostParameters();

  TimeEstimate time;
  AddPipeline(step, pipeline, micro_batches, time);
  time[TimePart::kPp] = PipelineHopsTime(step, pipeline, micro_batches);
  time[TimePart::kStraggler] =
      (StragglerFactor(context.cluster.device.straggler_sigma, layout.devices()) - 1.0) *
      time.step_s();
  time[TimePart::kPressure] =
      AllocatorPressure(context.profile, layout, fraction_of_device) * time.step_s();
  time[TimePart::kDp] =
      ExposedDataParallelTime(
          step, parameters, micro_batches,
          layout.zero >= 2 ? pipeline.slowest_s : pipeline.slowest.durations.backward_s()) +
      TiedEmbeddingTime(step);
  time[TimePart::kOptimizer] = OptimizerTime(step);
  time[TimePart::kOffload] += LongestHostUpdate(step).exposed_copies_s;
  return time;
}

}  // namespace meshwright::planner

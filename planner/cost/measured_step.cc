#include "planner/cost/measured_step.h"

#include <utility>

#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "planner/cost/stage_time.h"
#include "planner/cost/stragglers.h"
#include "planner/schedule/placement.h"
#include "planner/schedule/simulator.h"

namespace meshwright::planner {
namespace {

absl::Status CheckCount(const char* field, size_t count, int32_t expected) {
  if (count == static_cast<size_t>(expected)) return absl::OkStatus();
  return FieldError(field, std::to_string(count), "must be " + std::to_string(expected));
}

// Simulates when each pipeline rank begins and ends its actions, with messages that take `hop_s`.
absl::StatusOr<std::vector<RankTimeline>> SimulateRanks(const Layout& layout, int32_t micro_batches,
                                                        const std::vector<MeasuredRank>& ranks,
                                                        double hop_s) {
  PipelineTimes times;
  for (int32_t number = 0; number < StageCount(layout); ++number) {
    const ChunkPlace place = PlaceOfStage(layout, number);
    const MeasuredChunk& chunk =
        ranks[static_cast<size_t>(place.rank)].chunks[static_cast<size_t>(place.chunk)];
    times.stages.push_back({.forward_s = chunk.forward.total_s(),
                            .input_gradient_s = chunk.input_gradient.total_s(),
                            .weight_gradient_s = chunk.weight_gradient.total_s()});
  }
  times.hop_s = {hop_s};
  ASSIGN_OR_RETURN(Timeline timeline,
                   SimulateLayout(layout, micro_batches, times, Record::kTotals));
  return std::move(timeline.ranks);
}

double EndOf(const RankTimeline& timeline, const MeasuredRank& rank) {
  return timeline.compute_end_s + rank.dp_behind_s + rank.optimizer_s;
}

}  // namespace

absl::StatusOr<ComposedStep> ComposeStep(const EstimateContext& context, const Layout& layout,
                                         const std::vector<MeasuredRank>& ranks) {
  RETURN_IF_ERROR(CheckCount("ranks", ranks.size(), layout.pp));
  for (const MeasuredRank& rank : ranks) {
    RETURN_IF_ERROR(CheckCount("chunks", rank.chunks.size(), layout.vpp));
  }
  const auto micro_batches =
      static_cast<int32_t>(layout.MicroBatches(context.training.global_batch));
  const double hop_s = layout.pp > 1 ? HopTime(context, layout) : 0.0;
  ASSIGN_OR_RETURN(const std::vector<RankTimeline> timelines,
                   SimulateRanks(layout, micro_batches, ranks, hop_s));
  ASSIGN_OR_RETURN(const std::vector<RankTimeline> without_hops,
                   SimulateRanks(layout, micro_batches, ranks, 0.0));
  size_t last = 0;
  for (size_t rank = 1; rank < ranks.size(); ++rank) {
    if (EndOf(timelines[rank], ranks[rank]) > EndOf(timelines[last], ranks[last])) last = rank;
  }
  ComposedStep step;
  for (const MeasuredChunk& chunk : ranks[last].chunks) {
    for (const TimeParts& part : {chunk.forward, chunk.input_gradient, chunk.weight_gradient}) {
      step.Add(part, micro_batches);
    }
  }
  step[TimePart::kDp] += ranks[last].dp_behind_s;
  step[TimePart::kOptimizer] = ranks[last].optimizer_s;
  step[TimePart::kBubble] = without_hops[last].compute_end_s - without_hops[last].busy_s;
  step[TimePart::kPp] = timelines[last].compute_end_s - without_hops[last].compute_end_s;
  step[TimePart::kStraggler] =
      (StragglerFactor(context.cluster.device.straggler_sigma, layout.devices()) - 1.0) *
      step.step_s();
  return step;
}

}  // namespace meshwright::planner

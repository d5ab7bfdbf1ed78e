#include "planner/cost/pipeline_time.h"

#include <algorithm>

#include "planner/schedule/closed_forms.h"

namespace meshwright::planner {
namespace {

// Returns the idle seconds of the slowest rank. Unequal ranks fill and drain once, by the closed
// forms for unequal stages. ZB-H1 hides its bubble behind the rank's weight gradients; ZB-V with
// unequal parts is no better than an interleaved pipeline of two chunks. Breadth-first with few
// micro-batches is paced by the slowest rank.
double BubbleSeconds(const Layout& layout, const PipelineRanks& ranks, int64_t micro_batches) {
  if (layout.pp == 1) return 0.0;
  const double fill_s = (ranks.sum_s - ranks.slowest_s) / layout.vpp;
  switch (layout.schedule) {
    case ScheduleKind::kZbH1: {
      const StageDurations& slowest = ranks.slowest.durations;
      const double exposed = ZbH1Bubble(2, slowest) / slowest.total_s();
      const double spread_s = layout.pp * ranks.slowest_s - ranks.sum_s;
      return std::min(fill_s, fill_s * exposed + spread_s);
    }
    case ScheduleKind::kZbV:
      return std::max(fill_s, BubbleTime(layout, micro_batches, ranks.slowest.durations));
    case ScheduleKind::kZbH2: {
      // Ranks that differ wait for the slowest, which has no bubble.
      const double spread_s = layout.pp * ranks.slowest_s - ranks.sum_s;
      return std::min(fill_s,
                      BubbleTime(layout, micro_batches, ranks.slowest.durations) + spread_s);
    }
    case ScheduleKind::kBreadthFirst:
      if (micro_batches >= layout.pp) return fill_s;
      return std::max(fill_s, BubbleTime(layout, micro_batches, ranks.slowest.durations));
    default:
      return fill_s;
  }
}

// Adds micro-batches and bubble; the slowest rank sets the pace.
void AddMicroBatches(const Layout& layout, const PipelineRanks& ranks, int64_t micro_batches,
                     double share, TimeEstimate& time) {
  const auto m = static_cast<double>(micro_batches);
  const double bubble_s = BubbleSeconds(layout, ranks, micro_batches);
  if (share >= 1.0) {
    time.Add(ranks.slowest.parts, m);
    time[TimePart::kBubble] = bubble_s;
    return;
  }
  // Ranks that share cores yield theirs while they wait, so all stages together keep the cores busy
  // unless the chain of micro-batches, each at the speed of a whole core, takes longer.
  time.Add(ranks.sum, m / layout.pp);
  const double chain_s = (m * ranks.slowest_s + bubble_s) * share;
  time[TimePart::kBubble] = std::max(0.0, chain_s - time.step_s());
}

// Returns the seconds of hops that no schedule hides and, where a rank has several chunks, the host
// time of each of its many sends and what does not fit behind a chunk's forward.
double HopsTime(const FrameworkProfile& profile, const Layout& layout, const PipelineRanks& ranks,
                int64_t micro_batches, double hop_s) {
  if (layout.pp == 1) return 0.0;
  const double exposed_s = ExposedHops(layout, micro_batches) * hop_s;
  if (layout.vpp == 1) return exposed_s;
  const double chunk_s = ranks.slowest.durations.forward_s / layout.vpp;
  const double sends = 2.0 * static_cast<double>(micro_batches) * layout.vpp;
  return exposed_s + sends * std::max(profile.communication.pipeline_hop_s, hop_s - chunk_s);
}

}  // namespace

TimeEstimate PipelineTime(const FrameworkProfile& profile, const Layout& layout,
                          const PipelineRanks& ranks, int64_t micro_batches,
                          const PipelineLinks& links) {
  TimeEstimate time;
  AddMicroBatches(layout, ranks, micro_batches, links.core_share, time);
  time[TimePart::kPp] = HopsTime(profile, layout, ranks, micro_batches, links.hop_s);
  time[TimePart::kStraggler] = (links.straggler_factor - 1.0) * time.step_s();
  return time;
}

}  // namespace meshwright::planner

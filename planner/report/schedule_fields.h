// Declares the fields of a simulated step (planner/codec/fields.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "planner/codec/fields.h"
#include "planner/report/schedule_answer.h"

namespace meshwright::planner {

struct ScheduledRank {
  int32_t pipeline_rank = 0;
  RankTimeline timeline;
  double bubble_share = 0.0;
};

template <typename Visitor>
void VisitFields(const ScheduledRank& rank, Visitor& visit) {
  visit("pipeline_rank", rank.pipeline_rank);
  visit("start_s", rank.timeline.first_start_s);
  visit("end_s", rank.timeline.end_s);
  visit("busy_s", rank.timeline.busy_s);
  visit("bubble_share", rank.bubble_share);
  visit("chunks_in_flight", rank.timeline.peak_in_flight);
}

// Compute that is repeated has a field of its own; a collective that is repeated counts among those
// of the backward, which waits for it.
template <typename Visitor>
void VisitFields(const OperatorTime& op, Visitor& visit) {
  const LayerTime& time = op.time;
  visit("name", std::string(op.name));
  visit("kind", std::string(op.kind));
  visit("forward_s", time.forward_s);
  visit("backward_s", time.backward_s());
  visit("recompute_s", time.recompute_s);
  visit("tp_forward_s", time.tp_forward_s);
  visit("tp_backward_s", time.tp_backward_s + time.tp_recompute_s);
  visit("cp_forward_s", time.cp_forward_s);
  visit("cp_backward_s", time.cp_backward_s + time.cp_recompute_s);
  visit("ep_forward_s", time.ep_forward_s);
  visit("ep_backward_s", time.ep_backward_s + time.ep_recompute_s);
}

template <typename Visitor>
void VisitFields(const LayerKind& kind, Visitor& visit) {
  visit("name", kind.name);
  visit("layers", kind.layers);
  visit("recomputed", kind.recomputed);
  visit("operators", kind.operators);
}

template <typename Visitor>
void VisitFields(const ScheduleAnswer& answer, Visitor& visit) {
  const Timeline& timeline = answer.timeline;
  std::vector<ScheduledRank> ranks;
  for (size_t i = 0; i < timeline.ranks.size(); ++i) {
    const auto rank = static_cast<int32_t>(i);
    ranks.push_back({rank, timeline.ranks[i], timeline.BubbleShare(rank)});
  }
  visit("layout", FormatLayout(answer.layout));
  visit("micro_batches", answer.micro_batches);
  visit("step_s", timeline.makespan_s);
  visit("repeated_step_s", timeline.RepeatedStepTime());
  visit("bubble_share", timeline.BubbleShare());
  visit("ranks", ranks);
  visit("layer_kinds", answer.layer_kinds);
  visit(OnlyOnWire("svg"), answer.svg);
}

}  // namespace meshwright::planner

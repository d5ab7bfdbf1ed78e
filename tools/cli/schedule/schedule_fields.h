// ScheduleText declares the fields that `meshwright schedule` prints (planner/codec/fields.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "planner/codec/fields.h"
#include "planner/layout/layout.h"
#include "planner/schedule/simulator.h"

namespace meshwright::cli {

struct ScheduledRank {
  int32_t pipeline_rank = 0;
  planner::RankTimeline timeline;
  double bubble_share = 0.0;
};

template <typename Visitor>
void VisitFields(const ScheduledRank& rank, Visitor& visit) {
  visit({"pipeline_rank", "From 0"}, rank.pipeline_rank);
  visit({"start_s", "First start, seconds"}, rank.timeline.first_start_s);
  visit({"end_s", "Last end, seconds"}, rank.timeline.end_s);
  visit({"busy_s", "Time at work, seconds"}, rank.timeline.busy_s);
  visit({"bubble_share", "Share of the step that it is idle"}, rank.bubble_share);
  visit({"chunks_in_flight", "Most micro-batches between forward and backward, in chunks"},
        rank.timeline.peak_in_flight);
}

struct ScheduleText {
  planner::Layout layout;
  int32_t micro_batches = 0;
  planner::Timeline timeline;
};

template <typename Visitor>
void VisitFields(const ScheduleText& text, Visitor& visit) {
  const planner::Timeline& timeline = text.timeline;
  std::vector<ScheduledRank> ranks;
  for (size_t i = 0; i < timeline.ranks.size(); ++i) {
    const auto rank = static_cast<int32_t>(i);
    ranks.push_back({rank, timeline.ranks[i], timeline.BubbleShare(rank)});
  }
  visit({"layout", "Text form of the layout"}, planner::FormatLayout(text.layout));
  visit({"micro_batches", "Micro-batches of a step, a count"}, text.micro_batches);
  visit({"step_s", "From the first start to the last end, seconds"}, timeline.makespan_s);
  visit({"repeated_step_s", "A step among many, seconds"}, timeline.RepeatedStepTime());
  visit({"bubble_share", "Share of the step that ranks are idle"}, timeline.BubbleShare());
  visit({"ranks", "One entry per pipeline rank"}, ranks);
}

}  // namespace meshwright::cli

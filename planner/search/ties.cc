#include "planner/search/ties.h"

#include <algorithm>

namespace meshwright::planner {

Complexity ComplexityOf(const Layout& layout) {
  Complexity complexity;
  for (const AxisField& axis : kAxes) complexity.axes += layout.*axis.size > 1 ? 1 : 0;
  complexity.axes += (layout.ep > 1 ? 1 : 0) + (layout.etp > 1 ? 1 : 0);
  complexity.axes += layout.shard_ranks > 0 ? 1 : 0;
  complexity.axes += layout.stages.empty() ? 0 : 1;
  complexity.axes += layout.offload.any() ? 1 : 0;
  complexity.chunks = layout.vpp > 1;
  complexity.recompute = layout.recompute;
  complexity.zero = layout.zero;
  complexity.plain_schedule = layout.schedule == ScheduleKind::kGpipe ||
                              layout.schedule == ScheduleKind::k1f1b ||
                              layout.schedule == ScheduleKind::kInterleaved;
  return complexity;
}

void TieFinder::Offer(const Layout& layout, double mfu) {
  if (!Takes(mfu)) return;
  best_mfu_ = std::max(best_mfu_, mfu);
  mfus_.push_back(mfu);
  Fastest& fastest = fastest_[ComplexityOf(layout)];
  if (mfu > fastest.mfu) fastest = {mfu, layout};
  if (mfus_.size() < forget_at_) return;
  Forget();
  forget_at_ = std::max(forget_at_, 2 * mfus_.size());
}

void TieFinder::Forget() {
  std::erase_if(mfus_, [this](double mfu) { return !Takes(mfu); });
}

Ties TieFinder::Take(const EstimateContext& context) {
  Forget();
  Ties ties;
  ties.count = static_cast<int64_t>(mfus_.size());
  ties.within = spread_ - 1.0;
  double fastest = 0.0;
  for (const auto& [complexity, candidate] : fastest_) {
    if (ties.simplest.size() == kMostSimplest) break;
    // What is less simple and no faster has nothing for it.
    if (!Takes(candidate.mfu) || candidate.mfu <= fastest) continue;
    fastest = candidate.mfu;
    ties.simplest.push_back({candidate.layout, EstimateLayout(context, candidate.layout)});
  }
  return ties;
}

}  // namespace meshwright::planner

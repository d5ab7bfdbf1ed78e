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

void TieFinder::Offer(const Layout& layout, double mfu, PointOrder order) {
  if (!Takes(mfu)) return;
  best_mfu_ = std::max(best_mfu_, mfu);
  mfus_.push_back(mfu);
  Keep(ComplexityOf(layout), {mfu, layout, order});
  if (mfus_.size() < forget_at_) return;
  Forget();
  forget_at_ = std::max(forget_at_, 2 * mfus_.size());
}

void TieFinder::Merge(const TieFinder& other) {
  best_mfu_ = std::max(best_mfu_, other.best_mfu_);
  mfus_.insert(mfus_.end(), other.mfus_.begin(), other.mfus_.end());
  for (const auto& [complexity, candidate] : other.fastest_) Keep(complexity, candidate);
}

void TieFinder::Keep(const Complexity& complexity, const Fastest& candidate) {
  Fastest& fastest = fastest_[complexity];
  const bool earlier = candidate.mfu == fastest.mfu && candidate.order < fastest.order;
  if (candidate.mfu > fastest.mfu || earlier) fastest = candidate;
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

#include "planner/search/ties.h"

#include <algorithm>

namespace meshwright::planner {

Complexity ComplexityOf(const Layout& layout) {
  Complexity complexity;
  for (const LayoutKey& key : kLayoutKeys) {
    if (key.burden == Burden::kNone || HasDefault(key, layout)) continue;
    complexity.burdens[static_cast<size_t>(key.burden)] +=
        key.burden_of == nullptr ? 1 : key.burden_of(layout);
  }
  return complexity;
}

void TieFinder::Offer(const RankedLayout& ranked, double score, PointOrder order) {
  if (!Takes(score)) return;
  best_score_ = std::max(best_score_, score);
  scores_.push_back(score);
  Complexity complexity = ComplexityOf(ranked.layout);
  complexity.options = changed_options_;
  Keep(complexity, {score, ranked, order});
  if (scores_.size() < forget_at_) return;
  Forget();
  forget_at_ = std::max(forget_at_, 2 * scores_.size());
}

void TieFinder::Merge(const TieFinder& other) {
  best_score_ = std::max(best_score_, other.best_score_);
  scores_.insert(scores_.end(), other.scores_.begin(), other.scores_.end());
  for (const auto& [complexity, candidate] : other.best_) Keep(complexity, candidate);
}

void TieFinder::Keep(const Complexity& complexity, const Best& candidate) {
  Best& best = best_[complexity];
  const bool earlier = candidate.score == best.score && candidate.order < best.order;
  if (candidate.score > best.score || earlier) best = candidate;
}

void TieFinder::Forget() {
  std::erase_if(scores_, [this](double score) { return !Takes(score); });
}

Ties TieFinder::Take() {
  Forget();
  Ties ties;
  ties.count = static_cast<int64_t>(scores_.size());
  ties.within = spread_ - 1.0;
  double best = 0.0;
  for (const auto& [complexity, candidate] : best_) {
    if (ties.simplest.size() == kMostSimplest) break;
    // A layout that is less simple and not better than an earlier one is left out.
    if (!Takes(candidate.score) || candidate.score <= best) continue;
    best = candidate.score;
    ties.simplest.push_back(candidate.ranked);
  }
  return ties;
}

}  // namespace meshwright::planner

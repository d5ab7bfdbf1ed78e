// Ranking keeps the best layouts of a search in a list of fixed length.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "planner/search/objective.h"
#include "planner/search/ranked_layout.h"

namespace meshwright::planner {

// A layout's position in the order of the search space. The position breaks ties, so the threads
// that share a search find the same answer as one thread would.
using PointOrder = uint64_t;

// These constants leave enough bits: a search has at most 10^8 points (kMostPoints), orders grow by
// 3 per point, and a mesh has at least 24 points. Each mesh therefore takes fewer than
// 2^kMeshOrderBits orders, and each choice of options fewer than 2^kChoiceOrderBits.
inline constexpr int kMeshOrderBits = 30;
inline constexpr int kChoiceOrderBits = 54;

// Keeps the best of the offered layouts by one merit. REQUIRES: layouts are offered in rising
// PointOrder.
class Ranking {
 public:
  Ranking(int32_t top, Merit merit) : top_(static_cast<size_t>(top)), merit_(merit) {
    best_.reserve(top_ + 1);
  }

  void Offer(const RankedLayout& ranked, PointOrder order) {
    const double score = ScoresOf(ranked.estimate)[merit_];
    if (Takes(score)) Insert({ranked, score, order});
  }

  // Adds the best of other layouts of the same search, which `other` kept.
  void Merge(Ranking&& other) {
    for (const Entry& entry : other.best_) Insert(entry);
  }

  // Returns whether a layout of this score would enter the list. The layout must come after all
  // layouts that were offered.
  bool Takes(double score) const { return best_.size() < top_ || score > best_.back().score; }

  const RankedLayout* best() const { return best_.empty() ? nullptr : &best_.front().ranked; }
  // Returns the best score that was offered, or 0 before the first offer.
  double BestScore() const { return best_.empty() ? 0.0 : best_.front().score; }
  void DropNoBetterThan(double score) {
    std::erase_if(best_, [score](const Entry& entry) { return entry.score <= score; });
  }

  std::vector<RankedLayout> Take() {
    std::vector<RankedLayout> layouts;
    for (const Entry& entry : best_) layouts.push_back(entry.ranked);
    best_.clear();
    return layouts;
  }

 private:
  struct Entry {
    RankedLayout ranked;
    double score = 0.0;
    PointOrder order = 0;
  };

  void Insert(const Entry& entry) {
    const auto before = [](const Entry& a, const Entry& b) {
      return a.score != b.score ? a.score > b.score : a.order < b.order;
    };
    const auto place = std::upper_bound(best_.begin(), best_.end(), entry, before);
    best_.insert(place, entry);
    if (best_.size() > top_) best_.pop_back();
  }

  size_t top_;
  Merit merit_;
  std::vector<Entry> best_;  // best first
};

}  // namespace meshwright::planner

// The best layouts of a search, in a list of a fixed length.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "planner/search/ranked_layout.h"

namespace meshwright::planner {

// Where a layout stands in the order of the search space; it decides between equals, so that
// threads that share a search come to the answer of one.
using PointOrder = uint64_t;

// The best by MFU of the layouts that were offered, which come in their order.
class Ranking {
 public:
  explicit Ranking(int32_t top) : top_(static_cast<size_t>(top)) { best_.reserve(top_ + 1); }

  void Offer(const Layout& layout, const Estimate& estimate, PointOrder order) {
    if (Takes(estimate.mfu)) Insert({{layout, estimate}, order});
  }

  // Takes what another part of the same search found.
  void Merge(Ranking&& other) {
    for (Entry& entry : other.best_) Insert(std::move(entry));
  }

  // Whether a layout with this MFU that stands behind all that were offered would be among them.
  bool Takes(double mfu) const { return best_.size() < top_ || mfu > best_.back().mfu(); }

  const RankedLayout* best() const { return best_.empty() ? nullptr : &best_.front().ranked; }
  // The fastest that was offered; 0 before the first.
  double BestMfu() const { return best_.empty() ? 0.0 : best_.front().mfu(); }
  void DropSlowerThan(double mfu) {
    std::erase_if(best_, [mfu](const Entry& entry) { return entry.mfu() <= mfu; });
  }

  std::vector<RankedLayout> Take() {
    std::vector<RankedLayout> layouts;
    for (Entry& entry : best_) layouts.push_back(std::move(entry.ranked));
    best_.clear();
    return layouts;
  }

 private:
  struct Entry {
    RankedLayout ranked;
    PointOrder order = 0;

    double mfu() const { return ranked.estimate.mfu; }
  };

  void Insert(Entry entry) {
    const auto before = [](const Entry& a, const Entry& b) {
      return a.mfu() != b.mfu() ? a.mfu() > b.mfu() : a.order < b.order;
    };
    const auto place = std::upper_bound(best_.begin(), best_.end(), entry, before);
    best_.insert(place, std::move(entry));
    if (best_.size() > top_) best_.pop_back();
  }

  size_t top_;
  std::vector<Entry> best_;  // in order
};

}  // namespace meshwright::planner

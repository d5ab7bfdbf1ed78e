// Front is the Pareto front of a search: the layouts that no other layout equals or beats in every
// merit.
#pragma once

#include <utility>
#include <vector>

#include "planner/search/objective.h"
#include "planner/search/ranking.h"

namespace meshwright::planner {

// Of equal layouts, the front keeps the first in the order of the search space. The threads that
// share a search therefore find the same front as one thread would.
class Front {
 public:
  // If `merits` is empty, the front takes no layout.
  explicit Front(std::vector<Merit> merits) : merits_(std::move(merits)) {}

  bool wanted() const { return !merits_.empty(); }
  // Returns whether a layout may belong to the front. `most` holds upper bounds of the layout's
  // scores. The layout must follow all offered layouts in the order of the search space.
  bool Takes(const Scores& most) const { return wanted() && !IsBeaten(most); }
  void Offer(const RankedLayout& ranked, PointOrder order);
  // Adds the front of other layouts of the same search.
  void Merge(const Front& other);

  // Returns the front. The best layout by the first merit comes first.
  std::vector<RankedLayout> Take();

 private:
  struct Entry {
    RankedLayout ranked;
    Scores scores;
    PointOrder order = 0;
  };

  // Returns whether `a` is at least as good as `b` in every merit.
  bool Covers(const Scores& a, const Scores& b) const;
  bool IsBeaten(const Scores& scores) const;
  void Insert(const Entry& entry);

  const std::vector<Merit> merits_;
  std::vector<Entry> entries_;  // the best by the first merit first
};

// Returns at most `most` layouts spread evenly over the front, including its two ends. REQUIRES:
// most > 1.
std::vector<RankedLayout> EvenlySpread(std::vector<RankedLayout> front, size_t most);

}  // namespace meshwright::planner

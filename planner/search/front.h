// The Pareto front of a search: the layouts that no other one equals or beats in every merit.
#pragma once

#include <utility>
#include <vector>

#include "planner/search/objective.h"
#include "planner/search/ranking.h"

namespace meshwright::planner {

// Of equals the first in the order of the search space stays, so that threads that share a search
// come to the front of one.
class Front {
 public:
  // Without merits it takes nothing.
  explicit Front(std::vector<Merit> merits) : merits_(std::move(merits)) {}

  bool wanted() const { return !merits_.empty(); }
  // Whether a layout that has at most these scores, and stands behind all that were offered, may
  // stand on the front.
  bool Takes(const Scores& most) const { return wanted() && !IsBeaten(most); }
  void Offer(const Layout& layout, const Estimate& estimate, PointOrder order);
  // Takes what another part of the same search found.
  void Merge(const Front& other);

  // The best by the first merit first.
  std::vector<RankedLayout> Take();

 private:
  struct Entry {
    RankedLayout ranked;
    Scores scores;
    PointOrder order = 0;
  };

  // Whether `a` is at least as good as `b` in every merit.
  bool Covers(const Scores& a, const Scores& b) const;
  bool IsBeaten(const Scores& scores) const;
  void Insert(const Entry& entry);

  const std::vector<Merit> merits_;
  std::vector<Entry> entries_;  // by the first merit, the best first
};

// At most `most` layouts of a front that divide it evenly, its ends among them. Requires most > 1.
std::vector<RankedLayout> EvenlySpread(std::vector<RankedLayout> front, size_t most);

}  // namespace meshwright::planner

// Front is the Pareto front of a search: the layouts that no other layout equals or beats in every
// merit.
#pragma once

#include <utility>
#include <vector>

#include "planner/search/objective.h"
#include "planner/search/ranking.h"

namespace meshwright::planner {

// Of equals the first in the order of the search space stays, so that the threads that share a
// search arrive at the front that one thread would find.
class Front {
 public:
  // Without merits the front takes nothing.
  explicit Front(std::vector<Merit> merits) : merits_(std::move(merits)) {}

  bool wanted() const { return !merits_.empty(); }
  // Returns whether a layout whose scores are at most `most`, and which comes after all that were
  // offered, may belong to the front.
  bool Takes(const Scores& most) const { return wanted() && !IsBeaten(most); }
  void Offer(const Layout& layout, const Estimate& estimate, PointOrder order);
  // Adds what another part of the same search found.
  void Merge(const Front& other);

  // Returns the front, the best by the first merit first.
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
  std::vector<Entry> entries_;  // by the first merit, the best first
};

// Returns at most `most` layouts spread evenly over the front, its two ends among them. Requires
// most > 1.
std::vector<RankedLayout> EvenlySpread(std::vector<RankedLayout> front, size_t most);

}  // namespace meshwright::planner

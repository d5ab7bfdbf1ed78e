// TieFinder finds the layouts that the estimate can't tell apart from the best one, and the
// simplest among them.
//
// A predicted step time has an interval into which 80 % of runs fall. A layout ties with the
// fastest layout if it is slower by less than half of that interval. Only a run can say which of
// the two is faster, so the simpler one is the better choice. The same holds for tokens per joule,
// which are as uncertain as the step time.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "planner/layout/keys.h"
#include "planner/search/ranking.h"

namespace meshwright::planner {

// The effort of running a layout, by Burden (planner/layout/keys.h): axes in use, such as tp or
// HSDP; chunks; recompute; the ZeRO stage; a schedule that is not plain. Less is simpler.
struct Complexity {
  std::array<int32_t, kBurdens> burdens{};
  int32_t options = 0;  // options that differ from the request's own

  friend auto operator<=>(const Complexity&, const Complexity&) = default;
};

Complexity ComplexityOf(const Layout& layout);

// Collects the tied layouts among all layouts that a search evaluates. The collector remembers one
// layout for each complexity, and 8 bytes for each layout that may still tie.
class TieFinder {
 public:
  // `spread` is the upper end of the interval divided by the predicted step time, at least 1.
  // `changed_options` is the number of options in which all offered layouts differ from the
  // request.
  explicit TieFinder(double spread, int32_t changed_options = 0)
      : spread_(spread), changed_options_(changed_options) {}

  // Returns whether a layout with this score would tie with the best so far. Higher scores are
  // better. REQUIRES: score >= 0.
  bool Takes(double score) const { return score * spread_ >= best_score_; }
  void Offer(const RankedLayout& ranked, double score, PointOrder order);
  // Adds the ties among other layouts of the same search, which `other` collected.
  void Merge(const TieFinder& other);

  // Returns the ties; the count is 0 before the first offer.
  Ties Take();

 private:
  struct Best {
    double score = 0.0;
    RankedLayout ranked;
    PointOrder order = 0;
  };

  void Keep(const Complexity& complexity, const Best& candidate);
  void Forget();  // removes the scores that no longer tie

  const double spread_;
  const int32_t changed_options_;
  double best_score_ = 0.0;
  std::vector<double> scores_;  // scores of the layouts that tied when they were offered
  size_t forget_at_ = 1024;     // Forget() runs once scores_ has this size
  std::map<Complexity, Best> best_;
};

}  // namespace meshwright::planner

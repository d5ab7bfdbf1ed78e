// SearchAccumulator collects the answer of a search: it counts why layouts fall out and keeps those
// that the answer lists.
//
// A layout is estimated with shared costs (planner/search/point_costs.h), and in full only where it
// may enter the answer. Each thread of a search has an accumulator of its own; merged at the end,
// they give the same answer whichever thread visited which layouts.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>

#include "absl/status/statusor.h"
#include "planner/estimate/staged_estimate.h"
#include "planner/layout/layout_condition.h"
#include "planner/rules/rule_list.h"
#include "planner/search/front.h"
#include "planner/search/group_bests.h"
#include "planner/search/mesh_walk.h"
#include "planner/search/ranking.h"
#include "planner/search/search_request.h"
#include "planner/search/space.h"
#include "planner/search/ties.h"

namespace meshwright::planner {

// What a search without a single valid layout remembers of those that it dropped.
struct Dropped {
  int64_t by_runner = 0;                // valid for the framework, but not for what runs them
  std::optional<Violation> by_kernels;  // the first violation of a rule about kernels
  PointOrder by_kernels_order = 0;
  int64_t smallest_batch = 0;  // the smallest batch that would divide; 0 where none would

  void Merge(const Dropped& other);
};

// Refers to the request and the space, which must outlive it.
class SearchAccumulator {
 public:
  SearchAccumulator(const SearchRequest& request, const SearchSpace& space);

  // Visits the layouts of one mesh until goes_on(points seen since the last call) returns false;
  // returns whether it never did. An accumulator may visit any meshes, in rising order.
  bool VisitMesh(size_t mesh, const std::function<bool(int64_t)>& goes_on);

  // Adds what another accumulator of the same request found.
  void Merge(SearchAccumulator&& other);

  // The best that fits so far, if any.
  const RankedLayout* best() const { return ranking_.best(); }
  const Funnel& funnel() const { return funnel_; }

  // Returns what was found; errors as for Search().
  absl::StatusOr<SearchResult> Take();

 private:
  class Sink;

  // The outcome of a layout that divides states among all replicas. HSDP, which divides among a
  // part of them, takes more memory and is useful only where it is faster.
  struct Undivided {
    bool is_over = false;  // over the memory that a trial may take
    double mfu = 0.0;      // where it fits
  };

  void Visit(const ValidPoint& point, bool is_staged);
  void Drop(const Violation& violation, int64_t points, PointOrder order);
  void CountFit(const Layout& layout);
  void CountInvalid(Rule rule, int64_t points);
  std::optional<Violation> CheckRunner(Layout layout) const;
  bool MayBeatMine(double mfu) const {
    return mine_ && !mine_->violation && mfu > mine_->estimate.mfu;
  }
  // Returns whether a layout whose scores are at most `most` may enter one of the answer's lists.
  bool IsListed(const Layout& layout, const Scores& most) const {
    const double score = most[merit_];
    return ranking_.Takes(score) || (has_ties() && ties_.Takes(score)) || front_.Takes(most) ||
           groups_.Takes(layout, most);
  }
  // Bytes are precise enough to tell every two layouts apart.
  bool has_ties() const { return merit_ != Merit::kMemory; }
  UserLayoutRank Place(const Layout& layout) const;
  absl::Status NoValidLayout() const;

  // The following take a layout that keeps every rule; Costs give its memory and time
  // (planner/search/point_costs.h).
  template <typename Costs>
  void Select(const ValidPoint& point, const Costs& costs);
  // Returns whether the condition takes layouts that recompute a part of what this one does, which
  // recomputes nothing or everything. The condition need not take the layout itself.
  bool AsksForPartsOf(const Layout& layout) const;
  template <typename Costs>
  void LookAtParts(const Layout& layout, const Costs& costs);
  template <typename Costs>
  bool IsNoFaster(const Layout& layout, const Costs& costs, const Undivided& undivided) const;
  template <typename Costs>
  void RecomputeLess(const Layout& full, const Costs& costs);
  template <typename Costs>
  void RecomputeModulesAlone(const Layout& full, const Costs& costs);
  template <typename Costs>
  void Rank(const Layout& layout, const Costs& costs, int64_t least_bytes);
  // Returns the largest scores that the layout may have where it fills at least `least_bytes`.
  template <typename Costs>
  Scores MostScores(const Costs& costs, double most_mfu, int64_t least_bytes) const;
  template <typename Costs>
  void PutOver(const Layout& layout, const Costs& costs, int64_t least_bytes);

  const SearchRequest& request_;
  const SearchSpace& space_;
  const LayoutMatcher where_;
  const EstimateContext context_;
  const RuleInput planned_;         // for a layout that the caller names
  const RuleInput searched_;        // for the search's own layouts
  const RecomputeModules modules_;  // those that layouts of the search may recompute
  const int64_t allowed_bytes_;
  const int64_t trial_bytes_;
  const bool has_hsdp_;
  StagedEstimate staged_;
  const std::function<bool(int64_t)>* goes_on_ = nullptr;  // of the current mesh
  PointOrder order_ = 0;                                   // of the current layout
  size_t way_ = 0;  // the current layout's division of states
  Funnel funnel_;
  const Merit merit_;
  // Upper bound of tokens per joule for each 1 of MFU that a layout would have with none of its
  // device's memory filled; 0 where energy is not asked for.
  const double most_energy_per_mfu_;
  Ranking ranking_;
  Ranking trials_{kMostTrials, Merit::kSpeed};
  Front front_;
  GroupBests groups_;
  bool keeping_all_is_over_ = false;  // of the current layout, the memory without recompute
  // The outcomes of layouts that differ from the current one in no other axis, by ZeRO stage and
  // index of the recompute.
  std::array<std::array<Undivided, kSearchedRecomputes.size()>, kMostZero + 1> undivided_{};
  TieFinder ties_;
  std::optional<UserLayoutRank> mine_;
  Layout nearest_;
  int64_t nearest_bytes_ = std::numeric_limits<int64_t>::max();
  PointOrder nearest_order_ = 0;
  Dropped dropped_;
};

}  // namespace meshwright::planner

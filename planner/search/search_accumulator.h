// What a search makes of the layouts of its space: counts why they fall, and keeps those that the
// answer is about.
//
// A layout is estimated as a search estimates many (planner/search/point_costs.h), and in full only
// where it may have a place in the answer. Threads that share a search have a selection each, which
// are put together at the end: what comes out does not depend on who went through what.
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
  std::optional<Violation> by_kernels;  // the first one of a rule about kernels
  PointOrder by_kernels_order = 0;
  int64_t smallest_batch = 0;  // that would divide; 0 where none would

  void Merge(const Dropped& other);
};

// Refers to the request and the space, which must outlive it.
class SearchAccumulator {
 public:
  SearchAccumulator(const SearchRequest& request, const SearchSpace& space);

  // Goes through the layouts of one mesh, of which a selection takes any but in rising order, until
  // goes_on(points seen since it was asked last) is false. Returns whether it never was.
  bool VisitMesh(size_t mesh, const std::function<bool(int64_t)>& goes_on);

  // Takes what another selection of the same request found.
  void Merge(SearchAccumulator&& other);

  // The best that fits so far, if any.
  const RankedLayout* best() const { return ranking_.best(); }
  const Funnel& funnel() const { return funnel_; }

  // Returns what was found; errors as Search() has them.
  absl::StatusOr<SearchResult> Take();

 private:
  class Sink;

  // What became of a layout that divides states among all replicas. HSDP, which divides among a
  // part of them, takes more memory, and is of use where it is faster.
  struct Undivided {
    bool is_over = false;  // even for a trial
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
  // Whether a layout of at most these scores may have a place in the answer's lists.
  bool IsListed(const Layout& layout, const Scores& most) const {
    const double score = most[merit_];
    return ranking_.Takes(score) || (has_ties() && ties_.Takes(score)) || front_.Takes(most) ||
           groups_.Takes(layout, most);
  }
  // Bytes are certain enough for every layout to differ.
  bool has_ties() const { return merit_ != Merit::kMemory; }
  UserLayoutRank Place(const Layout& layout) const;
  absl::Status NoValidLayout() const;

  // The following take a layout that keeps every rule; Costs know its memory and time
  // (planner/search/point_costs.h).
  template <typename Costs>
  void Select(const ValidPoint& point, const Costs& costs);
  // Whether the condition takes layouts that recompute a part of what this one does, which
  // recomputes nothing or all; it need not take the layout itself.
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
  // The most that its scores may be where it fills so many bytes or more.
  template <typename Costs>
  Scores MostScores(const Costs& costs, double most_mfu, int64_t least_bytes) const;
  template <typename Costs>
  void PutOver(const Layout& layout, const Costs& costs, int64_t least_bytes);

  const SearchRequest& request_;
  const SearchSpace& space_;
  const LayoutMatcher where_;
  const EstimateContext context_;
  const RuleInput planned_;         // of a layout that the caller names
  const RuleInput searched_;        // of the search's own
  const RecomputeModules modules_;  // that layouts of the search may recompute
  const int64_t allowed_bytes_;
  const int64_t trial_bytes_;
  const bool has_hsdp_;
  StagedEstimate staged_;
  const std::function<bool(int64_t)>* goes_on_ = nullptr;  // of the mesh at hand
  PointOrder order_ = 0;                                   // of the layout at hand
  size_t way_ = 0;  // to divide states, of the layout at hand
  Funnel funnel_;
  const Merit merit_;
  // A layout of so much MFU, if nothing of its device were filled, makes at most this many times as
  // many tokens a joule; 0 where nobody asks for them.
  const double most_energy_per_mfu_;
  Ranking ranking_;
  Ranking trials_{kMostTrials, Merit::kSpeed};
  Front front_;
  GroupBests groups_;
  bool keeping_all_is_over_ = false;  // of the layout at hand, the memory without recompute
  // Of the layouts that differ from the one at hand in no other axis, by ZeRO stage and number of
  // recompute.
  std::array<std::array<Undivided, kSearchedRecomputes.size()>, kMostZero + 1> undivided_{};
  TieFinder ties_;
  std::optional<UserLayoutRank> mine_;
  Layout nearest_;
  int64_t nearest_bytes_ = std::numeric_limits<int64_t>::max();
  PointOrder nearest_order_ = 0;
  Dropped dropped_;
};

}  // namespace meshwright::planner

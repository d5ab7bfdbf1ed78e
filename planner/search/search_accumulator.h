// SearchAccumulator collects the answer of a search. It counts the reasons why layouts are dropped,
// and keeps the layouts that the answer lists.
//
// A layout is estimated with shared costs (planner/search/point_costs.h). Only a layout that may
// enter the answer is estimated in full. Each thread of a search has its own accumulator. The
// merged accumulators give the same answer whichever thread visited which layouts.
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

// Facts about dropped layouts. They explain why an answer has no valid layout.
struct Dropped {
  int64_t by_runner = 0;                // layouts that the framework can run, but the runner can't
  std::optional<Violation> by_kernels;  // the first violation of a rule about kernels
  PointOrder by_kernels_order = 0;
  // The smallest dp * micro-batch, in sequences, that does not divide the global batch; 0 if none.
  int64_t smallest_batch = 0;

  void Merge(const Dropped& other);
};

// The request and the space must outlive the accumulator.
//
// A search over options has accumulators for each choice of options, and merges them in the order
// of the choices. Each accumulator has its own request, whose `choices` hold only the choice that
// the request's training already has.
class SearchAccumulator {
 public:
  // The first point has order `first_order`. Layouts that are faster than `mine` are counted;
  // without `mine`, the request's `mine` takes its place.
  SearchAccumulator(const SearchRequest& request, const SearchSpace& space,
                    PointOrder first_order = 0,
                    const std::optional<UserLayoutRank>& mine = std::nullopt);

  // Visits the layouts of one mesh. Calls goes_on with the number of points seen since its last
  // call; stops and returns false once goes_on returns false. An accumulator may skip meshes, but
  // must visit them in rising order.
  bool VisitMesh(size_t mesh, const std::function<bool(int64_t)>& goes_on);

  // Adds the results of another accumulator of the same search.
  void Merge(SearchAccumulator&& other);

  // Returns the best layout that fits so far, or null.
  const RankedLayout* best() const { return ranking_.best(); }
  const Funnel& funnel() const { return funnel_; }
  const std::optional<UserLayoutRank>& mine() const { return mine_; }

  // Returns the answer, or InvalidArgument, with the reason, if no layout can run.
  absl::StatusOr<SearchResult> Take();

 private:
  class Sink;

  // The outcome of a layout without HSDP, whose ZeRO shards over all dp * cp ranks. The same layout
  // with HSDP shards over fewer ranks and so takes more memory; the layout with HSDP is useful only
  // if it is faster.
  struct Undivided {
    // If true, the layout needs more memory than both the answer and a trial allow.
    bool is_over = false;
    double mfu = 0.0;  // MFU; 0 if the layout does not fit
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
  // Layouts don't tie in memory: estimates of memory are exact enough to tell any two apart.
  bool has_ties() const { return merit_ != Merit::kMemory; }
  UserLayoutRank Place(const Layout& layout) const;
  absl::Status NoValidLayout() const;

  // The following functions take a layout that breaks no rule. `costs` gives the layout's memory
  // and time (planner/search/point_costs.h).
  template <typename Costs>
  void Select(const ValidPoint& point, const Costs& costs);
  // Returns whether the request's condition admits a layout that recomputes only a part of each
  // chunk or layer and is otherwise equal to `layout`. The condition need not admit `layout`
  // itself. Returns false unless `layout` recomputes nothing or everything.
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
  // Returns upper bounds of the layout's scores, given that it needs at least `least_bytes`.
  template <typename Costs>
  Scores MostScores(const Costs& costs, double most_mfu, int64_t least_bytes) const;
  template <typename Costs>
  void PutOver(const Layout& layout, const Costs& costs, int64_t least_bytes);

  const SearchRequest& request_;
  const SearchSpace& space_;
  const PointOrder first_order_;
  const LayoutMatcher where_;
  const EstimateContext context_;
  const RuleInput planned_;              // rules for a layout that the caller names
  const RuleInput searched_;             // rules for the search's own layouts
  const std::optional<RuleInput> runs_;  // rules for the request's runner, if it has one
  const RecomputeModules modules_;       // the modules that a search may recompute
  const int64_t allowed_bytes_;
  const int64_t trial_bytes_;
  const bool has_hsdp_;
  StagedEstimate staged_;
  const std::function<bool(int64_t)>* goes_on_ = nullptr;  // callback for the current mesh
  PointOrder order_ = 0;                                   // order of the current layout
  size_t way_ = 0;  // index of the current layout's ZeRO stage and HSDP group size
  Funnel funnel_;
  const Merit merit_;
  // Upper bound of the ratio of a layout's tokens per joule to its MostMfu(). 0 if energy is not
  // asked for.
  const double most_energy_per_mfu_;
  Ranking ranking_;
  Ranking trials_{kMostTrials, Merit::kSpeed};
  Front front_;
  GroupBests groups_;
  // If true, the current layout would exceed the allowed memory if it recomputed nothing.
  bool keeping_all_is_over_ = false;
  // The outcomes of the layouts without HSDP that differ from the current layout only in HSDP, ZeRO
  // stage and recompute. The indices are the ZeRO stage and the index in kSearchedRecomputes.
  std::array<std::array<Undivided, kSearchedRecomputes.size()>, kMostZero + 1> undivided_{};
  TieFinder ties_;
  std::optional<UserLayoutRank> mine_;
  Layout nearest_;
  const SearchRequest* nearest_of_ = &request_;  // the request whose options `nearest_` has
  int64_t nearest_bytes_ = std::numeric_limits<int64_t>::max();
  PointOrder nearest_order_ = 0;
  Dropped dropped_;
};

}  // namespace meshwright::planner

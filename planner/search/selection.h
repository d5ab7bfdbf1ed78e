// What a search makes of the layouts of its space: counts why they fall, and keeps those that the
// answer is about.
//
// Memory in full, the slowest part, is worked out only where bounds don't say what becomes of a
// layout. Threads that share a search have a selection each, which are put together at the end:
// what comes out does not depend on who went through what.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>

#include "absl/status/statusor.h"
#include "planner/profile/planned_layout.h"
#include "planner/rules/rule_list.h"
#include "planner/search/ranking.h"
#include "planner/search/search.h"
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
class Selection {
 public:
  Selection(const SearchRequest& request, const SearchSpace& space);

  // Goes through the layouts of one mesh, of which a selection takes any but in rising order, until
  // goes_on(points seen since it was asked last), which is asked every kPointsPerPoll points, is
  // false. Returns whether it never was.
  template <typename GoesOn>
  bool VisitMesh(size_t mesh, const GoesOn& goes_on) {
    order_ = PointOrder{mesh} << kOrderBits;
    int64_t unasked = 0;
    const bool whole = space_.ForEachOfMeshWhile(mesh, [&](const Layout& layout) {
      if (unasked == kPointsPerPoll) {
        if (!goes_on(unasked)) return false;
        unasked = 0;
      }
      ++unasked;
      Visit(layout);
      return true;
    });
    return whole && goes_on(unasked);
  }

  // Takes what another selection of the same request found.
  void Merge(Selection&& other);

  // The fastest that fits so far, if any.
  const RankedLayout* best() const { return ranking_.best(); }
  const Funnel& funnel() const { return funnel_; }

  // Returns what was found; errors as Search() has them.
  absl::StatusOr<SearchResult> Take();

 private:
  // Points of a mesh are fewer than 2 to this many.
  static constexpr int kOrderBits = 40;
  static constexpr int kZeroModes = 4;
  static constexpr int kRecomputeModes = 4;

  // What became of a layout that divides states among all replicas. HSDP, which divides among a
  // part of them, takes more memory, and is of use where it is faster.
  struct Undivided {
    bool is_over = false;  // even for a trial
    double mfu = 0.0;      // where it fits
  };

  // Of the layouts that follow each other in a search and differ in no other axis.
  static size_t ModeOf(const Layout& layout) {
    return static_cast<size_t>(layout.zero * kRecomputeModes) +
           static_cast<size_t>(layout.recompute);
  }

  void Visit(const Layout& layout);
  void CountInvalid(Rule rule);
  void Drop(const Violation& violation);
  std::optional<Violation> CheckRunner(Layout layout) const;
  int64_t LeastBytes(const PlannedLayout& planned) const;
  void RecomputeLess(const PlannedLayout& full);
  bool MayBeatMine(double mfu) const {
    return mine_ && !mine_->violation && mfu > mine_->estimate.mfu;
  }
  // Whether a layout of at most this MFU may have a place in the answer.
  bool Matters(double mfu) const {
    return MayBeatMine(mfu) || ranking_.Takes(mfu) || ties_.Takes(mfu);
  }
  Standing Place(const Layout& layout) const;
  void Rank(const PlannedLayout& planned);
  void PutOver(const PlannedLayout& planned, int64_t least_bytes);
  absl::Status NoValidLayout() const;

  const SearchRequest& request_;
  const SearchSpace& space_;
  const EstimateContext context_;
  const RuleInput planned_;   // of a layout that the caller names
  const RuleInput searched_;  // of the search's own
  const int64_t allowed_bytes_;
  const int64_t trial_bytes_;
  PointOrder order_ = 0;  // of the layout at hand
  Funnel funnel_;
  Ranking ranking_;
  Ranking trials_{kMostTrials};
  bool keeping_all_is_over_ = false;  // of the layout at hand, the memory without recompute
  std::array<Undivided, kZeroModes * kRecomputeModes> undivided_{};  // by ModeOf()
  TieFinder ties_;
  std::optional<Standing> mine_;
  Layout nearest_;
  int64_t nearest_bytes_ = std::numeric_limits<int64_t>::max();
  PointOrder nearest_order_ = 0;
  Dropped dropped_;
};

}  // namespace meshwright::planner

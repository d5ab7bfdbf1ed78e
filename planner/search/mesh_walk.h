// MeshWalk visits the points of a search space mesh by mesh. It checks a rule only once for all
// points that agree in the axes on which the rule depends.
//
// Rules have levels (planner/rules/rule.h). If a few axes already determine a layout's first broken
// rule, the walk counts all points that share these axes and visits none of them. The counts equal
// those of a loop that calls CheckLayout() on every point.
//
// A cell is the set of points that differ only in recompute and in the way to divide states (ZeRO
// stage and HSDP group).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "planner/rules/rule_list.h"
#include "planner/search/ranking.h"
#include "planner/search/search_run.h"
#include "planner/search/space.h"

namespace meshwright::planner {

// A point that breaks no rule.
struct ValidPoint {
  const Layout& layout;
  size_t pipeline;   // index among SearchSpace::pipelines() of its mesh
  size_t way;        // index among SearchSpace::WaysToDivide() of its mesh
  size_t recompute;  // index of its recompute in kSearchedRecomputes
  bool is_first;     // whether it is the first valid point of its cell
  PointOrder order;  // position in the search; grows by at least 3 from point to point
};

// MeshWalk reports its points to a Sink, which has
//   void EnterMesh(size_t ways_to_divide);
//   void Drop(const Violation& violation, int64_t points, PointOrder order);
//   int64_t Visit(const ValidPoint& point);
//   bool GoesOn(int64_t points);
// EnterMesh() takes the number of the mesh's ways to divide states. Drop() takes the number of
// points that break the same rule. Visit() returns its work, measured in points. The walk calls
// GoesOn() each time that the work of kPointsPerPoll points is done. GoesOn() takes the number of
// points seen since its last call, and returns whether to go on.
template <typename Sink>
class MeshWalk {
 public:
  // All arguments must outlive the walk.
  MeshWalk(const RuleInput& rules, const SearchSpace& space, Sink& sink)
      : rules_(rules), space_(space), sink_(sink) {}

  // Returns false if the sink stopped the walk.
  bool Walk(size_t mesh) {
    EnterMesh(mesh);
    const RuleVerdict of_mesh = CheckLevel(RuleLevel::kMesh, rules_, layout_, kRuleCount);
    for (size_t pipeline = 0; pipeline < pipelines_->size(); ++pipeline) {
      if (!WalkPipeline(pipeline, of_mesh)) return false;
    }
    return sink_.GoesOn(TakeSeen());
  }

 private:
  void EnterMesh(size_t mesh) {
    layout_ = space_.mesh(mesh);
    order_ = PointOrder{mesh} << kMeshOrderBits;
    pipelines_ = &space_.pipelines(layout_);
    micro_batches_ = &space_.micro_batches(layout_);
    ways_ = space_.WaysToDivide(layout_);
    of_ways_.clear();
    least_inner_ = kRuleCount;
    for (const DividedStates& way : ways_) {
      SetWay(way);
      of_ways_.push_back(CheckLevel(RuleLevel::kStates, rules_, layout_, kRuleCount));
      least_inner_ = std::min(least_inner_, of_ways_.back().place);
    }
    SetWay(DividedStates());
    least_recompute_ = kRuleCount;
    for (size_t i = 0; i < kSearchedRecomputes.size(); ++i) {
      layout_.recompute = kSearchedRecomputes[i];
      of_recompute_[i] = CheckLevel(RuleLevel::kRecompute, rules_, layout_, kRuleCount);
      least_recompute_ = std::min(least_recompute_, of_recompute_[i].place);
    }
    layout_.recompute = kSearchedRecomputes.front();
    least_inner_ = std::min(least_inner_, least_recompute_);
    sink_.EnterMesh(ways_.size());
  }

  bool WalkPipeline(size_t pipeline, const RuleVerdict& of_mesh) {
    const PipelineChoice& choice = (*pipelines_)[pipeline];
    layout_.schedule = choice.schedule;
    layout_.vpp = choice.vpp;
    layout_.stages = choice.stages;
    pipeline_ = pipeline;
    const RuleVerdict verdict = First(of_mesh, RuleLevel::kPipeline);
    const int64_t points = Count(*micro_batches_) * Count(space_.offloads()) * PointsOfBatch();
    if (Count(space_.offloads()) == 1 && verdict.place < least_inner_ &&
        verdict.place < FirstPlaceOf(RuleLevel::kMicroBatch) &&
        verdict.place < FirstPlaceOf(RuleLevel::kSequence)) {
      Drop(verdict, points);
      return Poll();
    }
    for (const int32_t micro_batch : *micro_batches_) {
      layout_.micro_batch = micro_batch;
      const RuleVerdict of_batch = First(verdict, RuleLevel::kMicroBatch);
      for (const Offload& offload : space_.offloads()) {
        layout_.offload = offload;
        for (const bool sequence_parallel : {false, true}) {
          layout_.sequence_parallel = sequence_parallel;
          const bool whole =
              offload.any() ? VisitEach() : WalkCell(First(of_batch, RuleLevel::kSequence));
          if (!whole || !Poll()) return false;
        }
      }
      layout_.offload = Offload();
      layout_.sequence_parallel = false;
    }
    return true;
  }

  // Visits the points of a cell.
  bool WalkCell(const RuleVerdict& verdict) {
    if (verdict.place < least_inner_) {
      Drop(verdict, PointsOfBatch() / 2);
      return true;
    }
    bool is_first = true;
    for (size_t way = 0; way < ways_.size(); ++way) {
      const RuleVerdict& of_way = of_ways_[way].place < verdict.place ? of_ways_[way] : verdict;
      if (of_way.place < least_recompute_) {
        Drop(of_way, Count(kSearchedRecomputes));
        continue;
      }
      SetWay(ways_[way]);
      for (size_t i = 0; i < kSearchedRecomputes.size(); ++i) {
        const RuleVerdict& first =
            of_recompute_[i].place < of_way.place ? of_recompute_[i] : of_way;
        if (first.place < kRuleCount) {
          Drop(first, 1);
          continue;
        }
        if (!Visit(way, i, is_first)) return false;
      }
    }
    LeaveCell();
    return true;
  }

  // Visits the points of a cell one by one, without levels, because an offload may break a rule at
  // any level.
  bool VisitEach() {
    bool is_first = true;
    for (size_t way = 0; way < ways_.size(); ++way) {
      SetWay(ways_[way]);
      for (size_t i = 0; i < kSearchedRecomputes.size(); ++i) {
        layout_.recompute = kSearchedRecomputes[i];
        if (const auto violation = CheckLayout(rules_, layout_)) {
          Drop(*violation, 1);
        } else if (!Visit(way, i, is_first)) {
          return false;
        }
      }
    }
    LeaveCell();
    return true;
  }

  bool Visit(size_t way, size_t recompute, bool& is_first) {
    layout_.recompute = kSearchedRecomputes[recompute];
    unasked_ += sink_.Visit({.layout = layout_,
                             .pipeline = pipeline_,
                             .way = way,
                             .recompute = recompute,
                             .is_first = is_first,
                             .order = order_}) -
                1;
    See(1);
    is_first = false;
    return Poll();
  }

  RuleVerdict First(const RuleVerdict& outer, RuleLevel level) const {
    const RuleVerdict inner = CheckLevel(level, rules_, layout_, outer.place);
    return inner.place < outer.place ? inner : outer;
  }

  void Drop(const RuleVerdict& verdict, int64_t points) {
    Drop(Violation{Rules()[verdict.place].rule, verdict.operands}, points);
  }
  void Drop(const Violation& violation, int64_t points) {
    sink_.Drop(violation, points, order_);
    See(points);
  }

  void See(int64_t points) {
    seen_ += points;
    unasked_ += points;
    order_ += kOrderStep * static_cast<PointOrder>(points);
  }
  int64_t TakeSeen() {
    unasked_ = 0;
    return std::exchange(seen_, 0);
  }
  bool Poll() { return unasked_ < kPointsPerPoll || sink_.GoesOn(TakeSeen()); }

  void SetWay(const DividedStates& way) {
    layout_.zero = way.zero;
    layout_.shard_ranks = way.shard_ranks;
  }
  void LeaveCell() {
    SetWay(DividedStates());
    layout_.recompute = kSearchedRecomputes.front();
  }

  template <typename List>
  static int64_t Count(const List& list) {
    return static_cast<int64_t>(list.size());
  }
  // Returns the number of points that share one micro-batch and one offload.
  int64_t PointsOfBatch() const { return 2 * Count(ways_) * Count(kSearchedRecomputes); }

  // The orders in between are for the points that a sink adds after a point of the space.
  static constexpr PointOrder kOrderStep = 3;

  const RuleInput& rules_;
  const SearchSpace& space_;
  Sink& sink_;
  Layout layout_;
  const std::vector<PipelineChoice>* pipelines_ = nullptr;
  const std::vector<int32_t>* micro_batches_ = nullptr;
  std::vector<DividedStates> ways_;
  std::vector<RuleVerdict> of_ways_;                                  // by index in ways_
  std::array<RuleVerdict, kSearchedRecomputes.size()> of_recompute_;  // indexed by recompute mode
  size_t least_recompute_ = kRuleCount;  // lowest index of a rule that any recompute mode breaks
  size_t least_inner_ = kRuleCount;      // lowest over recompute modes and ways to divide states
  size_t pipeline_ = 0;
  int64_t seen_ = 0;     // points since the last GoesOn()
  int64_t unasked_ = 0;  // work since the last GoesOn(), in points
  PointOrder order_ = 0;
};

}  // namespace meshwright::planner

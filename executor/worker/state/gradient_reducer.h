// GradientReducer sums the gradients of units over their replicas (FlatUnit::replicas()) during the
// backward: it reduce-scatters them over the shards, and then all-reduces them over the copies.
//
// With ZeRO 1, a unit's gradients are reduce-scattered once per step, when they are complete. With
// ZeRO 2 and 3, the gradients of every micro-batch are reduce-scattered, from a bucket that exists
// from the unit's first weight gradient to the end of the reduce-scatter. Under layered gradient
// accumulation (arXiv 2106.02679), one reduce-scatter covers all micro-batches of a chunk's pass.
// The all-reduce over the copies happens once per step, when the rank's own gradients are complete.
// The rank's own gradients are those of its shard under HSDP, and all gradients without ZeRO.
//
// At most one bucket is being reduce-scattered when another one opens. Which buckets exist at any
// moment depends only on this rank's own actions, not on the speed of a reduction.
#pragma once

#include <deque>
#include <map>
#include <vector>

#include "executor/worker/comm/communicator.h"
#include "executor/worker/state/flat_unit.h"
#include "executor/worker/state/rank_context.h"

namespace meshwright::worker {

class GradientReducer {
 public:
  explicit GradientReducer(RankContext& context) : context_(context) {}

  void BeginStep();
  // Notifications from the stages (executor/worker/state/unit_observer.h).
  void Open(FlatUnit& unit);
  void Added(FlatUnit& unit, bool pass_complete);

  // Returns the units whose gradients of this step are complete on this rank. They are in order of
  // completion, which is the same on all replicas.
  const std::vector<FlatUnit*>& complete() const { return complete_; }
  // Returns once the unit's own gradients are sums over all replicas. Also finishes operations that
  // were started earlier.
  void WaitFor(const FlatUnit& unit);

 private:
  struct Scatter {
    FlatUnit* unit = nullptr;
    bool last = false;  // of the step
    at::Tensor gradients;
    Pending pending;
  };
  struct SumOfCopies {
    const FlatUnit* unit = nullptr;
    Pending pending;
  };

  static bool ReducesMicroBatches(const FlatUnit& unit) { return unit.zero() >= 2; }
  bool CompletesStep(const FlatUnit& unit, bool pass_complete);
  void Start(FlatUnit& unit, bool last);
  void StartSumOfCopies(FlatUnit& unit);
  void FinishOldestScatter();

  RankContext& context_;
  std::deque<Scatter> scatters_;
  std::deque<SumOfCopies> sums_of_copies_;
  std::map<const FlatUnit*, int32_t> passes_;  // complete passes of this step
  std::vector<FlatUnit*> complete_;
};

}  // namespace meshwright::worker

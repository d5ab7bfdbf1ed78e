// Sums the gradients of units over their replicas (FlatUnit::replicas()), while the backward goes
// on.
//
// ZeRO 0 and 1 reduce a unit's gradients once a step, when they are complete: to all ranks, or to
// each its shard. ZeRO 2 and 3 reduce those of every micro-batch, from a bucket that exists only
// from the unit's first weight gradient until the reduction is over; under layered gradient
// accumulation (arXiv 2106.02679) those of all micro-batches of a chunk's pass at once.
//
// At most one bucket is under reduction when another is opened. Which exist at any moment follows
// from this rank's own actions, not from how fast a reduction is.
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
  // What the stages tell (executor/worker/unit_observer.h).
  void Open(FlatUnit& unit);
  void Added(FlatUnit& unit, bool pass_complete);

  // Units whose gradients of this step are complete on this rank, in that order, which is the same
  // on all replicas.
  const std::vector<FlatUnit*>& complete() const { return complete_; }
  // Returns when the unit's own gradients are sums over all replicas. Takes what was started before
  // along.
  void WaitFor(const FlatUnit& unit);

 private:
  struct UnderWay {
    FlatUnit* unit = nullptr;
    at::Tensor gradients;
    Pending pending;
  };

  static bool ReducesMicroBatches(const FlatUnit& unit) { return unit.zero() >= 2; }
  bool CompletesStep(const FlatUnit& unit, bool pass_complete);
  void Start(FlatUnit& unit, bool last);
  void FinishOldest();

  RankContext& context_;
  std::deque<UnderWay> under_way_;
  std::map<const FlatUnit*, int32_t> passes_;  // complete ones of this step
  std::vector<FlatUnit*> complete_;
};

}  // namespace meshwright::worker

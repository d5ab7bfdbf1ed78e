// Sums the gradients of units over their replicas (FlatUnit::replicas()), while the backward goes
// on: scatters sums over the shards, then adds up those of the copies.
//
// ZeRO 1 scatters a unit's gradients once a step, when they are complete. ZeRO 2 and 3 scatter
// those of every micro-batch, from a bucket that exists only from the unit's first weight gradient
// until that is over; under layered gradient accumulation (arXiv 2106.02679) those of all
// micro-batches of a chunk's pass at once. Copies are added up once a step, when the rank's own
// gradients are complete: under HSDP a shard's, without ZeRO all.
//
// At most one bucket is being scattered when another is opened. Which exist at any moment follows
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
  std::map<const FlatUnit*, int32_t> passes_;  // complete ones of this step
  std::vector<FlatUnit*> complete_;
};

}  // namespace meshwright::worker

// SlotCounts counts how many slots of a micro-batch's sequences go to each expert. A sequence's
// tokens are divided over the TP and CP groups, so the ranks of these groups count together.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "executor/worker/model/stream_positions.h"
#include "executor/worker/state/rank_context.h"
#include "planner/spec/model_spec.h"

namespace meshwright::worker {

class SlotCounts {
 public:
  // `picked` [stream tokens, top_k] has each slot's expert, on the host. All ranks of the TP and CP
  // groups must call this constructor: they exchange counts in the accumulator dtype, which is
  // exact below 2^24 slots.
  SlotCounts(RankContext& context, const planner::Experts& experts, const int32_t* picked);

  // Returns the counts [sequences, experts] in the accumulator dtype, on the rank's device.
  at::Tensor OfSequences(const RankContext& context) const;

  // Returns one count per expert: the slots of the token's sequence that come before the run that
  // contains the token (StreamPositions::run_tokens()).
  const int64_t* BeforeRunOf(int64_t token) const;

 private:
  int64_t RunOf(int64_t token) const;

  const StreamPositions positions_;
  const int64_t experts_;
  const int64_t runs_;           // of a sequence
  const int64_t sequences_;      // of the micro-batch
  std::vector<int64_t> before_;  // [sequences, runs + 1, experts]
};

}  // namespace meshwright::worker

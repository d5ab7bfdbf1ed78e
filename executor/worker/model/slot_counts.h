// How many slots of a micro-batch's sequences go to each expert. The tokens of a sequence lie on
// the ranks of the TP and CP groups, so that these count together.
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
  // `picked` [stream tokens, top_k]: the expert of a slot, on the host. All ranks of the groups
  // call it; what they exchange is counted in the accumulator dtype, exact below 2^24 slots.
  SlotCounts(RankContext& context, const planner::Experts& experts, const int32_t* picked);

  // [sequences, experts], accumulator dtype, on the rank's device.
  at::Tensor OfSequences(const RankContext& context) const;

  // Slots of each expert at positions of the token's sequence before the run of tokens that it is
  // in (StreamPositions::run_tokens()): `experts` numbers.
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

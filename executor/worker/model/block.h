// Block is one transformer block, attention and feed-forward, with its saved and recomputed
// tensors.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "executor/worker/model/attention_branch.h"
#include "executor/worker/model/ffn_layer.h"
#include "executor/worker/model/rope_table.h"
#include "executor/worker/state/flat_unit.h"
#include "executor/worker/state/rank_context.h"
#include "planner/block/recompute.h"

namespace meshwright::worker {

// One micro-batch's saved tensors: those that planner/block/block.h saves, except those freed by
// the layer's recompute (planner/block/recompute.h).
struct BlockSaved {
  AttentionSaved attention;
  FfnSaved ffn;
};

class Block {
 public:
  // `index` is the block's index in its chunk, which decides whether rc=block:N recomputes it.
  // `units` are the layer's and, if it has experts, theirs. REQUIRES: `group`, `rope` and the units
  // outlive this object.
  Block(RankContext& context, const planner::LayerGroup& group, std::vector<FlatUnit*> units,
        const RopeTable& rope, int64_t index);

  const std::vector<FlatUnit*>& units() const { return units_; }

  // [stream tokens, hidden] -> the same shape, a new tensor.
  at::Tensor Forward(at::Tensor input, BlockSaved& saved) const;
  // Gradient of the output -> gradient of the input, a new tensor. Releases `saved`.
  at::Tensor Backward(at::Tensor gradient, BlockSaved& saved) const;
  // The same in two parts. Recomputation happens in the input part; its results live until the
  // weight part, which releases `saved`.
  at::Tensor BackwardInput(at::Tensor gradient, BlockSaved& saved) const;
  void BackwardWeight(BlockSaved& saved) const;

 private:
  // Recomputes what the FFN's backward needs, and what attention's needs too if it yields the FFN's
  // input.
  void RecomputeForFfn(BlockSaved& saved) const;
  void RecomputeForAttention(BlockSaved& saved) const;

  std::vector<FlatUnit*> units_;
  std::unique_ptr<const AttentionBranch> attention_;
  FfnLayer ffn_;
  planner::RecomputedParts again_;
};

}  // namespace meshwright::worker

// One transformer block: attention and feed-forward, and what of them is kept or computed again.
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

// What one micro-batch keeps. Its tensors are those that planner/block/block.h saves, but for what
// planner/block/recompute.h says that the layer's recompute frees.
struct BlockSaved {
  AttentionSaved attention;
  FfnSaved ffn;
};

class Block {
 public:
  // The `index`-th block of its chunk, which decides whether rc=block:N makes it again. `group`,
  // `rope` and the units outlive it: the layer's, and that of its experts where it has any.
  Block(RankContext& context, const planner::LayerGroup& group, std::vector<FlatUnit*> units,
        const RopeTable& rope, int64_t index);

  const std::vector<FlatUnit*>& units() const { return units_; }

  // [stream tokens, hidden] -> the same, a new tensor.
  at::Tensor Forward(at::Tensor input, BlockSaved& saved) const;
  // Gradient of the output -> gradient of the input, a new tensor. Releases `saved`.
  at::Tensor Backward(at::Tensor gradient, BlockSaved& saved) const;
  // The same in two parts. What is recomputed is recomputed in the input part and lives until the
  // weight part, which releases `saved`.
  at::Tensor BackwardInput(at::Tensor gradient, BlockSaved& saved) const;
  void BackwardWeight(BlockSaved& saved) const;

 private:
  // What the FFN's backward needs, and what attention's needs too where that makes its input.
  void RecomputeForFfn(BlockSaved& saved) const;
  void RecomputeForAttention(BlockSaved& saved) const;

  std::vector<FlatUnit*> units_;
  std::unique_ptr<const AttentionBranch> attention_;
  FfnLayer ffn_;
  planner::RecomputedParts again_;
};

}  // namespace meshwright::worker

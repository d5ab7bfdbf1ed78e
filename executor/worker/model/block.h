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

// The tensors that one micro-batch saves. These are the tensors of planner/block/block.h, except
// those that the layer recomputes (planner/block/recompute.h).
struct BlockSaved {
  AttentionSaved attention;
  FfnSaved ffn;
};

class Block {
 public:
  // `index` is the block's index in its chunk, which decides whether rc=block:N recomputes it.
  // `units` are the layer's unit and, if the layer has experts, the experts' unit. REQUIRES:
  // `group`, `rope` and the units outlive this object.
  Block(RankContext& context, const planner::LayerGroup& group, std::vector<FlatUnit*> units,
        const RopeTable& rope, int64_t index);

  const std::vector<FlatUnit*>& units() const { return units_; }

  // Returns the block's output for `input` [stream tokens, hidden], a new tensor of its shape.
  at::Tensor Forward(at::Tensor input, BlockSaved& saved) const;
  // Takes the gradient of the output and returns the gradient of the input, a new tensor. Releases
  // `saved`.
  at::Tensor Backward(at::Tensor gradient, BlockSaved& saved) const;
  // The two parts of Backward(). Tensors that BackwardInput() recomputes live until
  // BackwardWeight(), which releases `saved`.
  at::Tensor BackwardInput(at::Tensor gradient, BlockSaved& saved) const;
  void BackwardWeight(BlockSaved& saved) const;

 private:
  // Recomputes the tensors that the FFN's backward needs. If the FFN's input is among them,
  // attention reruns, which also recomputes the tensors that attention's backward needs.
  void RecomputeForFfn(BlockSaved& saved) const;
  void RecomputeForAttention(BlockSaved& saved) const;

  std::vector<FlatUnit*> units_;
  std::unique_ptr<const AttentionBranch> attention_;
  FfnLayer ffn_;
  planner::RecomputedParts again_;
};

}  // namespace meshwright::worker

#include "executor/worker/model/block.h"

#include <utility>

#include "executor/trial/capabilities.h"
#include "executor/worker/model/attention_layer.h"
#include "executor/worker/model/kept_tensors.h"
#include "executor/worker/model/latent_attention_layer.h"

namespace meshwright::worker {
namespace {

std::unique_ptr<const AttentionBranch> MakeAttention(RankContext& context,
                                                     const planner::Attention& attention,
                                                     FlatUnit& unit, const RopeTable& rope) {
  if (attention.is_latent()) {
    return std::make_unique<LatentAttentionLayer>(context, attention, unit, rope);
  }
  return std::make_unique<AttentionLayer>(context, attention, unit, rope);
}

// Returns the parts of a layer that are recomputed, by the worker's profile.
planner::RecomputedParts RecomputedPartsOf(const RankContext& context,
                                           const planner::LayerGroup& group, int64_t index) {
  planner::BlockShape shape = planner::WholeShape(context.model, group, context.training.seq_len);
  shape.selective_drops_operators = trial::WorkerProfile().kept.selective_recompute ==
                                    planner::SelectiveRecompute::kNormsAndActivation;
  return planner::PartsOf(planner::RecomputeOf(context.layout, index), shape);
}

}  // namespace

Block::Block(RankContext& context, const planner::LayerGroup& group, std::vector<FlatUnit*> units,
             const RopeTable& rope, int64_t index)
    : units_(std::move(units)),
      attention_(MakeAttention(context, group.attention, *units_.front(), rope)),
      ffn_(context, group.ffn, *units_.front(), units_.size() > 1 ? units_.back() : nullptr),
      again_(RecomputedPartsOf(context, group, index)) {}

at::Tensor Block::Forward(at::Tensor input, BlockSaved& saved) const {
  at::Tensor attention = attention_->Forward(std::move(input), saved.attention);
  Drop(again_.frees, saved.attention);
  at::Tensor output = ffn_.Forward(saved.attention.residual, std::move(attention), saved.ffn);
  Drop(again_.frees, saved.ffn);
  return output;
}

void Block::RecomputeForFfn(BlockSaved& saved) const {
  at::Tensor attention;
  if (again_.joins_halves()) {
    at::Tensor input = std::exchange(saved.attention.residual, {});
    attention = attention_->Forward(std::move(input), saved.attention);
  }
  ffn_.Recompute(again_.runs, saved.attention.residual, std::move(attention), saved.ffn);
}

void Block::RecomputeForAttention(BlockSaved& saved) const {
  if (!again_.joins_halves()) attention_->Recompute(again_.runs, saved.attention);
}

at::Tensor Block::Backward(at::Tensor gradient, BlockSaved& saved) const {
  RecomputeForFfn(saved);
  gradient = ffn_.Backward(gradient, saved.ffn);
  RecomputeForAttention(saved);
  return attention_->Backward(std::move(gradient), saved.attention);
}

at::Tensor Block::BackwardInput(at::Tensor gradient, BlockSaved& saved) const {
  RecomputeForFfn(saved);
  gradient = ffn_.BackwardInput(gradient, saved.ffn);
  RecomputeForAttention(saved);
  return attention_->BackwardInput(std::move(gradient), saved.attention);
}

void Block::BackwardWeight(BlockSaved& saved) const {
  ffn_.BackwardWeight(saved.ffn);
  attention_->BackwardWeight(saved.attention);
}

}  // namespace meshwright::worker

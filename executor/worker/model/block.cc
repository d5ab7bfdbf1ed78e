#include "executor/worker/model/block.h"

#include <utility>

#include "executor/worker/model/attention_layer.h"
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

}  // namespace

Block::Block(RankContext& context, const planner::LayerGroup& group, std::vector<FlatUnit*> units,
             const RopeTable& rope, int64_t index)
    : units_(std::move(units)),
      attention_(MakeAttention(context, group.attention, *units_.front(), rope)),
      ffn_(context, group.ffn, *units_.front(), units_.size() > 1 ? units_.back() : nullptr),
      keeps_(KeepsOf(context.layout, index)) {}

Block::Keeps Block::KeepsOf(const planner::Layout& layout, int64_t index) {
  switch (layout.recompute) {
    case planner::Recompute::kNone:
    case planner::Recompute::kModules:  // refused by the rules of the worker's profile
      return Keeps::kAll;
    case planner::Recompute::kSelective:
      return Keeps::kSelected;
    case planner::Recompute::kFull:
      return Keeps::kInput;
    case planner::Recompute::kBlock:
      return index < layout.recompute_layers ? Keeps::kInput : Keeps::kAll;
  }
  return Keeps::kAll;
}

at::Tensor Block::Forward(at::Tensor input, BlockSaved& saved) const {
  if (keeps_ == Keeps::kInput) {
    saved.attention.residual = input;
    at::Tensor attention;
    {
      AttentionSaved dropped;
      attention = attention_->Forward(input, dropped);
    }
    FfnSaved dropped;
    return ffn_.Forward(input, std::move(attention), dropped);
  }
  at::Tensor attention = attention_->Forward(std::move(input), saved.attention);
  if (keeps_ == Keeps::kSelected) attention_->DropNormed(saved.attention);
  at::Tensor output = ffn_.Forward(saved.attention.residual, std::move(attention), saved.ffn);
  if (keeps_ == Keeps::kSelected) ffn_.DropNormAndProduct(saved.ffn);
  return output;
}

void Block::RecomputeForFfn(BlockSaved& saved) const {
  if (keeps_ == Keeps::kSelected) ffn_.RecomputeNormAndProduct(saved.ffn);
  if (keeps_ != Keeps::kInput) return;
  at::Tensor input = std::exchange(saved.attention.residual, {});
  at::Tensor attention = attention_->Forward(std::move(input), saved.attention);
  // The block's output is known to whoever needed it: no down projection.
  ffn_.Recompute(saved.attention.residual, std::move(attention), saved.ffn);
}

void Block::RecomputeForAttention(BlockSaved& saved) const {
  if (keeps_ == Keeps::kSelected) attention_->RecomputeNormed(saved.attention);
}

at::Tensor Block::Backward(at::Tensor gradient, BlockSaved& saved) const {
  RecomputeForFfn(saved);
  gradient = ffn_.Backward(std::move(gradient), saved.ffn);
  RecomputeForAttention(saved);
  return attention_->Backward(std::move(gradient), saved.attention);
}

at::Tensor Block::BackwardInput(at::Tensor gradient, BlockSaved& saved) const {
  RecomputeForFfn(saved);
  gradient = ffn_.BackwardInput(std::move(gradient), saved.ffn);
  RecomputeForAttention(saved);
  return attention_->BackwardInput(std::move(gradient), saved.attention);
}

void Block::BackwardWeight(BlockSaved& saved) const {
  ffn_.BackwardWeight(saved.ffn);
  attention_->BackwardWeight(saved.attention);
}

}  // namespace meshwright::worker

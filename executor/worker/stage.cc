#include "executor/worker/stage.h"

#include <ATen/ops/zeros.h>

#include <utility>

#include "executor/worker/tensor_parallel.h"
#include "planner/schedule/placement.h"

namespace meshwright {

Stage::Stage(RankContext& context, const StageLayers& layers, const RopeTable& rope, Stage* front)
    : context_(context),
      layers_(layers),
      front_(context.model.tied_embeddings && layers.has_head ? front : nullptr) {
  const int32_t tp_rank = context.coordinates.tp;
  const int32_t tp = context.layout.tp;
  if (layers.has_embedding) {
    embedding_unit_ = AddUnit(EmbeddingUnit(context.model, tp_rank, tp));
    embedding_.emplace(context, *embedding_unit_);
  }
  blocks_.reserve(static_cast<size_t>(layers.layer_count));
  for (int64_t i = 0; i < layers.layer_count; ++i) {
    FlatUnit* unit = AddUnit(LayerUnit(context.model, layers.first_layer + i, tp_rank, tp));
    blocks_.emplace_back(context, *unit, rope, i);
  }
  if (layers.has_head) AddHead();
  if (context.model.tied_embeddings && !EndsShareRank(context.layout)) {
    tied_unit_ = layers.has_embedding ? embedding_unit_ : head_unit_;
  }
}

FlatUnit* Stage::AddUnit(ParameterUnit parameters) {
  units_.push_back(std::make_unique<FlatUnit>(context_, std::move(parameters)));
  return units_.back().get();
}

void Stage::AddHead() {
  const bool own_table = context_.model.tied_embeddings && layers_.has_embedding;
  const bool shared = own_table || front_ != nullptr;
  head_unit_ =
      AddUnit(HeadUnit(context_.model, context_.coordinates.tp, context_.layout.tp, !shared));
  if (front_ != nullptr) ++front_->embedding_uses_;
  const FlatUnit* table = front_ != nullptr ? front_->embedding_unit_ : embedding_unit_;
  const FlatUnit& matrix = shared ? *table : *head_unit_;
  const size_t norm = shared ? 0 : kFinalNorm;
  head_.emplace(context_, HeadLayer::Parameters{.weight = matrix.weight(kHeadWeight),
                                                .weight_gradient = matrix.gradient(kHeadWeight),
                                                .norm = head_unit_->weight(norm),
                                                .norm_gradient = head_unit_->gradient(norm)});
  loss_sum_ = at::zeros({1}, context_.options_of(at::kDouble));
}

void Stage::BeginStep(GradientsReady ready) {
  ready_ = std::move(ready);
  for (const auto& unit : units_) {
    unit->ZeroGradients();
    remaining_[unit.get()] = context_.micro_batches();
  }
  if (embedding_unit_ != nullptr) remaining_[embedding_unit_] *= embedding_uses_;
  if (loss_sum_.defined()) loss_sum_.zero_();
}

at::Tensor Stage::Forward(int32_t micro_batch, at::Tensor input, const TokenSource& tokens) {
  MicroBatch& state = in_flight_[micro_batch];
  if (embedding_.has_value()) {
    state.tokens = tokens.Inputs(micro_batch);
    input = embedding_->Forward(state.tokens);
  }
  for (const Block& block : blocks_) {
    input = block.Forward(std::move(input), state.blocks.emplace_back());
  }
  if (!head_.has_value()) return input;
  head_->Forward(std::move(input), tokens.Targets(micro_batch), loss_sum_, state.head.emplace());
  return {};
}

at::Tensor Stage::Backward(int32_t micro_batch, at::Tensor gradient) {
  MicroBatch& state = in_flight_.at(micro_batch);
  if (head_.has_value()) {
    gradient = head_->BackwardInput(*state.head);
    head_->BackwardWeight(*state.head);
    FinishedHead();
  }
  for (size_t i = blocks_.size(); i-- > 0;) {
    gradient = blocks_[i].Backward(std::move(gradient), state.blocks[i]);
    Finished(&blocks_[i].unit());
  }
  if (embedding_.has_value()) {
    embedding_->Backward(state.tokens, gradient);
    Finished(embedding_unit_);
    gradient.reset();
  }
  in_flight_.erase(micro_batch);
  return gradient;
}

at::Tensor Stage::BackwardInput(int32_t micro_batch, at::Tensor gradient) {
  MicroBatch& state = in_flight_.at(micro_batch);
  if (head_.has_value()) gradient = head_->BackwardInput(*state.head);
  for (size_t i = blocks_.size(); i-- > 0;) {
    gradient = blocks_[i].BackwardInput(std::move(gradient), state.blocks[i]);
  }
  if (embedding_.has_value()) state.embedding_gradient = std::exchange(gradient, {});
  return gradient;
}

void Stage::BackwardWeight(int32_t micro_batch) {
  MicroBatch& state = in_flight_.at(micro_batch);
  if (head_.has_value()) {
    head_->BackwardWeight(*state.head);
    FinishedHead();
  }
  for (size_t i = blocks_.size(); i-- > 0;) {
    blocks_[i].BackwardWeight(state.blocks[i]);
    Finished(&blocks_[i].unit());
  }
  if (embedding_.has_value()) {
    embedding_->Backward(state.tokens, state.embedding_gradient);
    Finished(embedding_unit_);
  }
  in_flight_.erase(micro_batch);
}

void Stage::FinishedHead() {
  Finished(head_unit_);
  if (front_ != nullptr) front_->Finished(front_->embedding_unit_);
}

void Stage::Finished(FlatUnit* unit) {
  if (--remaining_.at(unit) > 0) return;
  if (unit->replicated_gradients().numel() > 0) {
    SumOverSequence(context_, unit->replicated_gradients());
  }
  if (ready_) ready_(*unit);
}

}  // namespace meshwright

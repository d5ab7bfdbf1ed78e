#include "executor/worker/model/stage.h"

#include <ATen/ops/zeros.h>

#include <utility>

#include "planner/schedule/placement.h"

namespace meshwright::worker {
namespace {

int32_t RankIn(const std::unique_ptr<Communicator>& group) {
  return group == nullptr ? 0 : group->rank();
}

ExpertPlace ExpertPlaceOf(const RankContext& context) {
  return {.ep_rank = RankIn(context.groups.ep),
          .ep = context.layout.ep,
          .etp_rank = context.expert_tensor_rank(),
          .etp = context.layout.etp};
}

}  // namespace

template <typename Body>
void Stage::WithWeights(const WeightGroup& group, const Body& body) {
  if (observer_ != nullptr) observer_->BeforeWeights(group);
  body();
  if (observer_ != nullptr) observer_->AfterWeights(group);
}

template <typename Body>
void Stage::WithHeadGradients(const Body& body) {
  Begin(*head_unit_);
  body();
  End(*head_unit_);
  End(*final_norm_unit_);
}

template <typename Body>
void Stage::WithGradients(const Block& block, const Body& body) {
  for (FlatUnit* unit : block.units()) Begin(*unit);
  body();
  for (FlatUnit* unit : block.units()) End(*unit);
}

Stage::Stage(RankContext& context, const planner::StageLayers& layers, const RopeTable& rope,
             Stage* front)
    : context_(context),
      layers_(layers),
      front_(context.model.tied_embeddings && layers.has_head ? front : nullptr) {
  const int32_t tp_rank = context.coordinates.tp;
  const int32_t tp = context.layout.tp;
  if (layers.has_embedding) {
    embedding_unit_ = AddDenseUnit(EmbeddingUnit(context.model, tp_rank, tp));
    embedding_.emplace(context, *embedding_unit_);
    weight_groups_.push_back({embedding_unit_});
  }
  blocks_.reserve(static_cast<size_t>(layers.layer_count));
  for (int64_t i = 0; i < layers.layer_count; ++i) AddBlock(i, rope);
  if (layers.has_head) AddHead();
  for (const auto& [unit, uses] : uses_) unit->AddUser();
}

void Stage::AddBlock(int64_t index, const RopeTable& rope) {
  const int64_t layer = layers_.first_layer + index;
  const planner::LayerGroup& group = context_.model.GroupOf(layer);
  WeightGroup units = {
      AddDenseUnit(LayerUnit(context_.model, layer, context_.coordinates.tp, context_.layout.tp))};
  if (group.ffn.has_experts()) {
    units.push_back(AddUnit(ExpertUnit(context_.model, layer, ExpertPlaceOf(context_)),
                            context_.expert_replicas()));
  }
  blocks_.emplace_back(context_, group, units, rope, index);
  weight_groups_.push_back(std::move(units));
}

// A norm without parameters has nothing to share.
FlatUnit* Stage::AddDenseUnit(ParameterUnit parameters) {
  const Replicas replicas = parameters.empty() ? Replicas() : context_.groups.replicas();
  return AddUnit(std::move(parameters), replicas);
}

FlatUnit* Stage::AddUnit(ParameterUnit parameters, const Replicas& replicas) {
  units_.push_back(std::make_unique<FlatUnit>(context_, std::move(parameters), replicas));
  FlatUnit* unit = units_.back().get();
  uses_[unit] = 1;
  return unit;
}

void Stage::AddHead() {
  if (context_.model.tied_embeddings && layers_.has_embedding) head_unit_ = embedding_unit_;
  if (front_ != nullptr) head_unit_ = front_->embedding_unit_;
  if (head_unit_ == nullptr) {
    head_unit_ =
        AddDenseUnit(HeadUnit(context_.model, context_.coordinates.tp, context_.layout.tp));
  } else {
    ++uses_[head_unit_];
  }
  final_norm_unit_ = AddDenseUnit(FinalNormUnit(context_.model));
  head_.emplace(context_, *head_unit_, *final_norm_unit_);
  weight_groups_.push_back({head_unit_, final_norm_unit_});
  loss_sum_ = at::zeros({1}, context_.options_of(at::kDouble));
}

FlatUnit* Stage::tied_unit() const {
  if (!context_.model.tied_embeddings || planner::EndsShareRank(context_.layout)) return nullptr;
  return layers_.has_embedding ? embedding_unit_ : head_unit_;
}

void Stage::BeginStep(UnitObserver* observer) {
  observer_ = observer;
  for (const auto& unit : units_) unit->ClearGradients();
  for (const auto& [unit, uses] : uses_) missing_uses_[unit] = uses * context_.micro_batches();
  if (loss_sum_.defined()) loss_sum_.zero_();
}

at::Tensor Stage::Forward(int32_t micro_batch, at::Tensor input, const TokenSource& tokens) {
  MicroBatch& state = in_flight_[micro_batch];
  if (embedding_.has_value()) {
    WithWeights(weight_groups_.front(), [&] {
      state.tokens = tokens.Inputs(micro_batch);
      input = embedding_->Forward(state.tokens);
    });
  }
  for (size_t i = 0; i < blocks_.size(); ++i) {
    WithWeights(WeightsOfBlock(i),
                [&] { input = blocks_[i].Forward(std::move(input), state.blocks.emplace_back()); });
    Offload(state, i);
  }
  if (!head_.has_value()) return input;
  WithWeights(weight_groups_.back(), [&] {
    head_->Forward(std::move(input), tokens.Targets(micro_batch), loss_sum_, state.head.emplace());
  });
  return {};
}

at::Tensor Stage::Backward(int32_t micro_batch, at::Tensor gradient) {
  MicroBatch& state = in_flight_.at(micro_batch);
  if (head_.has_value()) {
    WithWeights(weight_groups_.back(),
                [&] { WithHeadGradients([&] { gradient = head_->Backward(*state.head); }); });
  }
  for (size_t i = blocks_.size(); i-- > 0;) {
    Return(state, i);
    WithWeights(WeightsOfBlock(i), [&] {
      WithGradients(blocks_[i],
                    [&] { gradient = blocks_[i].Backward(std::move(gradient), state.blocks[i]); });
    });
  }
  if (embedding_.has_value()) BackwardEmbedding(state, std::exchange(gradient, {}));
  in_flight_.erase(micro_batch);
  return gradient;
}

at::Tensor Stage::BackwardInput(int32_t micro_batch, at::Tensor gradient) {
  MicroBatch& state = in_flight_.at(micro_batch);
  if (head_.has_value()) {
    WithWeights(weight_groups_.back(), [&] { gradient = head_->BackwardInput(*state.head); });
  }
  for (size_t i = blocks_.size(); i-- > 0;) {
    Return(state, i);
    WithWeights(WeightsOfBlock(i),
                [&] { gradient = blocks_[i].BackwardInput(std::move(gradient), state.blocks[i]); });
  }
  if (embedding_.has_value()) state.embedding_gradient = std::exchange(gradient, {});
  return gradient;
}

void Stage::BackwardWeight(int32_t micro_batch) {
  MicroBatch& state = in_flight_.at(micro_batch);
  if (head_.has_value()) WithHeadGradients([&] { head_->BackwardWeight(*state.head); });
  for (size_t i = blocks_.size(); i-- > 0;) {
    WithGradients(blocks_[i], [&] { blocks_[i].BackwardWeight(state.blocks[i]); });
  }
  if (embedding_.has_value()) BackwardEmbedding(state, state.embedding_gradient);
  in_flight_.erase(micro_batch);
}

void Stage::Offload(MicroBatch& state, size_t block) {
  if (static_cast<int64_t>(block) >= context_.layout.offload.activation_layers) return;
  state.offloaded.emplace_back(context_, state.blocks[block]);
}

void Stage::Return(MicroBatch& state, size_t block) {
  if (block < state.offloaded.size()) state.offloaded[block].Return();
}

void Stage::BackwardEmbedding(const MicroBatch& state, const at::Tensor& gradient) {
  Begin(*embedding_unit_);
  embedding_->Backward(state.tokens, gradient);
  End(*embedding_unit_);
}

void Stage::Begin(FlatUnit& unit) {
  if (observer_ != nullptr) observer_->BeforeGradients(unit);
}

void Stage::End(FlatUnit& unit) {
  const bool pass_complete = --missing_uses_.at(&unit) == 0;
  if (observer_ != nullptr) observer_->AfterGradients(unit, pass_complete);
}

}  // namespace meshwright::worker

// Stage is one pipeline stage: the layers of a chunk, and the saved tensors of the micro-batches in
// flight. The model's first stage also has the embedding, and the last stage has the head.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "executor/worker/model/block.h"
#include "executor/worker/model/embedding_layer.h"
#include "executor/worker/model/head_layer.h"
#include "executor/worker/model/offloaded_block.h"
#include "executor/worker/model/rope_table.h"
#include "executor/worker/model/token_source.h"
#include "executor/worker/state/flat_unit.h"
#include "executor/worker/state/rank_context.h"
#include "executor/worker/state/unit_observer.h"
#include "planner/block/stage_partition.h"

namespace meshwright::worker {

class Stage {
 public:
  // Allocates and initialises the parameters. `front` is the model's first stage if that stage is
  // another chunk of this rank, and otherwise null. With tied embeddings, the head shares the table
  // of `front`. REQUIRES: `context`, `rope` and `front` outlive this object.
  Stage(RankContext& context, const planner::StageLayers& layers, const RopeTable& rope,
        Stage* front = nullptr);

  const planner::StageLayers& layers() const { return layers_; }
  // Returns the units in model order.
  const std::vector<std::unique_ptr<FlatUnit>>& units() const { return units_; }
  // Returns groups of units, in the order in which the forward needs their weights: embedding, each
  // block, head. The backward needs all groups but the embedding's, in reverse.
  const std::vector<WeightGroup>& weight_groups() const { return weight_groups_; }
  // Returns the unit of tied embeddings if this stage has it and the model's first and last stages
  // are on two ranks, so that another rank has a copy. Otherwise returns null.
  FlatUnit* tied_unit() const;
  // Returns the sum of this step's token losses, fp64 [1]. The tensor is undefined if the stage
  // lacks the head.
  const at::Tensor& loss_sum() const { return loss_sum_; }

  // Clears gradients and the loss. `observer` may be null; it must outlive the step.
  void BeginStep(UnitObserver* observer);

  // Runs the forward of a micro-batch. `input` [stream tokens, hidden] comes from the previous
  // stage; it is undefined on the model's first stage. Returns the next stage's input, or an
  // undefined tensor on the last stage.
  at::Tensor Forward(int32_t micro_batch, at::Tensor input, const TokenSource& tokens);
  // Runs the backward of a micro-batch. `gradient` [stream tokens, hidden] is the gradient of the
  // output and comes from the next stage; it is undefined on the model's last stage. Returns the
  // gradient of the input, or an undefined tensor on the first stage.
  at::Tensor Backward(int32_t micro_batch, at::Tensor gradient);
  // The two parts of Backward(). BackwardWeight() releases the micro-batch's saved tensors.
  at::Tensor BackwardInput(int32_t micro_batch, at::Tensor gradient);
  void BackwardWeight(int32_t micro_batch);

  // Returns the tensors that `micro_batch` has saved so far.
  const std::vector<BlockSaved>& saved_blocks(int32_t micro_batch) const {
    return in_flight_.at(micro_batch).blocks;
  }

 private:
  struct MicroBatch {
    at::Tensor tokens;              // inputs, on the first stage
    at::Tensor embedding_gradient;  // between the parts of a split backward
    std::vector<BlockSaved> blocks;
    std::vector<OffloadedBlock> offloaded;  // of the first blocks
    std::optional<HeadSaved> head;
  };

  FlatUnit* AddUnit(ParameterUnit parameters, const Replicas& replicas);
  FlatUnit* AddDenseUnit(ParameterUnit parameters);
  void AddBlock(int64_t index, const RopeTable& rope);
  void AddHead();
  // Runs `body` while the weights of a group are available.
  template <typename Body>
  void WithWeights(const WeightGroup& group, const Body& body);
  const WeightGroup& WeightsOfBlock(size_t block) const {
    return weight_groups_[block + (layers_.has_embedding ? 1 : 0)];
  }
  // Offload() moves the block's saved tensors to the host if the layout says so; Return() moves
  // them back.
  void Offload(MicroBatch& state, size_t block);
  static void Return(MicroBatch& state, size_t block);
  // Runs `body`, which adds the head's weight gradients.
  template <typename Body>
  void WithHeadGradients(const Body& body);
  void BackwardEmbedding(const MicroBatch& state, const at::Tensor& gradient);
  // Begin() and End() are called before and after a micro-batch's weight gradients are computed.
  void Begin(FlatUnit& unit);
  void End(FlatUnit& unit);
  template <typename Body>
  void WithGradients(const Block& block, const Body& body);

  RankContext& context_;
  const planner::StageLayers layers_;
  std::vector<std::unique_ptr<FlatUnit>> units_;
  std::vector<WeightGroup> weight_groups_;
  std::map<FlatUnit*, int64_t> uses_;  // how often a micro-batch adds to the gradients
  std::map<const FlatUnit*, int64_t> missing_uses_;  // of this step
  Stage* const front_;                               // holds the head's matrix, if not null
  FlatUnit* embedding_unit_ = nullptr;
  FlatUnit* head_unit_ = nullptr;  // the unit of the embedding or of `front_`, if shared
  FlatUnit* final_norm_unit_ = nullptr;
  std::optional<EmbeddingLayer> embedding_;
  std::vector<Block> blocks_;
  std::optional<HeadLayer> head_;
  at::Tensor loss_sum_;
  UnitObserver* observer_ = nullptr;
  std::map<int32_t, MicroBatch> in_flight_;
};

}  // namespace meshwright::worker

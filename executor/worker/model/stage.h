// One pipeline stage, the layers of a chunk: with the embedding in front of the model's first and
// the head behind its last, and what they keep of the micro-batches in flight.
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
  // Allocates and initialises the parameters. With tied embeddings the head shares the table of
  // `front`, the model's first stage, where that is another chunk of this rank; else null.
  // `context`, `rope` and `front` outlive it.
  Stage(RankContext& context, const planner::StageLayers& layers, const RopeTable& rope,
        Stage* front = nullptr);

  const planner::StageLayers& layers() const { return layers_; }
  // In the order of the model.
  const std::vector<std::unique_ptr<FlatUnit>>& units() const { return units_; }
  // What the forward needs the weights of, in its order: the embedding, each block, the head. The
  // backward needs those of all but the embedding, from the last to the first.
  const std::vector<WeightGroup>& weight_groups() const { return weight_groups_; }
  // The copy of tied embeddings where the model's first and last stage are on two ranks and this is
  // one of them, else null.
  FlatUnit* tied_unit() const;
  // Sum of this step's token losses, fp64 [1]; undefined without the head.
  const at::Tensor& loss_sum() const { return loss_sum_; }

  // Clears gradients and the loss. `observer` may be null; it outlives the step.
  void BeginStep(UnitObserver* observer);

  // `input` [stream tokens, hidden] comes from the stage before, undefined on the first. Returns
  // what the next stage needs, undefined on the last.
  at::Tensor Forward(int32_t micro_batch, at::Tensor input, const TokenSource& tokens);
  // `gradient` [stream tokens, hidden] of the output comes from the stage behind, undefined on the
  // last. Returns the gradient of the input, undefined on the first.
  at::Tensor Backward(int32_t micro_batch, at::Tensor gradient);
  // The same in two parts; BackwardWeight releases what the micro-batch kept.
  at::Tensor BackwardInput(int32_t micro_batch, at::Tensor gradient);
  void BackwardWeight(int32_t micro_batch);

  // What `micro_batch` keeps now.
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
  // Computes with the weights of a group.
  template <typename Body>
  void WithWeights(const WeightGroup& group, const Body& body);
  const WeightGroup& WeightsOfBlock(size_t block) const {
    return weight_groups_[block + (layers_.has_embedding ? 1 : 0)];
  }
  // What the block keeps goes to the host where the layout says so, and comes back.
  void Offload(MicroBatch& state, size_t block);
  static void Return(MicroBatch& state, size_t block);
  // Calls body, which adds the head's weight gradients.
  template <typename Body>
  void WithHeadGradients(const Body& body);
  void BackwardEmbedding(const MicroBatch& state, const at::Tensor& gradient);
  // Around the computation of a micro-batch's weight gradients.
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
  FlatUnit* head_unit_ = nullptr;  // the embedding's or that of `front_` where they share
  FlatUnit* final_norm_unit_ = nullptr;
  std::optional<EmbeddingLayer> embedding_;
  std::vector<Block> blocks_;
  std::optional<HeadLayer> head_;
  at::Tensor loss_sum_;
  UnitObserver* observer_ = nullptr;
  std::map<int32_t, MicroBatch> in_flight_;
};

}  // namespace meshwright::worker

// PlannedLayout is a layout under a context. It computes once the inputs that the estimates of
// memory and time share: the layers of each stage, the sums of the layers' operators, and the
// parameters of each rank.
//
// PlannedLayout refers to the context and the layout, which must outlive it. REQUIRES:
// CheckLayout() accepts the layout.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "planner/block/stage_partition.h"
#include "planner/layout/layout.h"
#include "planner/profile/block_sums.h"
#include "planner/profile/context.h"
#include "planner/profile/tower_sums.h"
#include "planner/schedule/placement.h"

namespace meshwright::planner {

// The sums of one layer of each shape, by the index that PlannedLayout::block() takes.
using ShapeSums = absl::InlinedVector<std::shared_ptr<const BlockSums>, 4>;

class PlannedLayout {
 public:
  // The second constructor takes the layout's stages, and the third also the sums of its layers'
  // shapes. Layouts that differ only in the pipeline or in how states are divided have the same
  // sums.
  PlannedLayout(const EstimateContext& context, const Layout& layout);
  PlannedLayout(const EstimateContext& context, const Layout& layout,
                std::shared_ptr<const StageTable> stages);
  PlannedLayout(const EstimateContext& context, const Layout& layout,
                std::shared_ptr<const StageTable> stages, const ShapeSums& blocks);

  const EstimateContext& context() const { return context_; }
  const Layout& layout() const { return layout_; }

  // Returns the layers and ends of stage `stage`.
  const StageLayers& Stage(int32_t stage) const {
    return stages_->stages[static_cast<size_t>(stage)];
  }
  const StageLayers& StageOnRank(int32_t pipeline_rank, int32_t chunk) const {
    return Stage(StageOfChunk(layout_, pipeline_rank, chunk));
  }
  // Returns the first pipeline rank that holds the same layers and ends of the model as
  // `pipeline_rank`.
  int32_t FirstAlike(int32_t pipeline_rank) const {
    return stages_->alike[static_cast<size_t>(pipeline_rank)];
  }

  // block() returns the sums of one layer of shape `shape`, an index into EstimateContext::shapes.
  // blocks() returns the sums of all shapes. If the multi-token-prediction (MTP) layers have a
  // shape of their own, it comes last.
  const BlockSums& block(size_t shape) const { return *blocks_[shape]; }
  const ShapeSums& blocks() const { return blocks_; }
  // Returns the shape of the multi-token-prediction layers, which is the last layer's shape unless
  // they have one of their own.
  size_t further_shape() const { return further_shape_; }
  const BlockSums& further_block() const { return block(further_shape_); }
  // Returns the sums from which to take the embedding and the head, which are the same in the sums
  // of every shape.
  const BlockSums& ends() const { return *blocks_.front(); }

  // Returns the sums of the model's towers, which stand before the embedding on its stage.
  const std::vector<std::shared_ptr<const TowerSums>>& towers() const { return towers_; }

  // Returns the parameters on one device of the pipeline rank, before ZeRO shards them.
  const UnitParameters& ParametersOnRank(int32_t pipeline_rank) const {
    return parameters_[static_cast<size_t>(pipeline_rank)];
  }
  // Returns the part of ParametersOnRank() that is in blocks.
  int64_t BlockParametersOnRank(int32_t pipeline_rank) const;
  // Returns the parameters of a device of the pipeline rank that has the most parameters.
  const UnitParameters& MostParameters() const {
    return *std::max_element(
        parameters_.begin(), parameters_.end(),
        [](const UnitParameters& a, const UnitParameters& b) { return a.all < b.all; });
  }
  // Returns the parameters of a device of the rank that trains the most parameters. Of ranks that
  // train equally many, the rank with more parameters counts.
  const UnitParameters& MostTrained() const {
    return *std::max_element(parameters_.begin(), parameters_.end(),
                             [](const UnitParameters& a, const UnitParameters& b) {
                               if (a.trained() != b.trained()) return a.trained() < b.trained();
                               return a.all < b.all;
                             });
  }
  // Returns the parameters of the largest unit that is gathered as one: a layer, the embedding or
  // the head.
  TransitParameters LargestUnit() const;
  // Returns the number of elements of the blocks' matrices on one device of the pipeline rank.
  MatrixElements MatricesOnRank(int32_t pipeline_rank) const;
  // Returns the number of selection biases that are updated, one per expert, in all layers of the
  // pipeline rank.
  int64_t MovedBiasesOnRank(int32_t pipeline_rank) const;
  // Calls visit(matrices, layers) for each layer shape in each chunk of the rank: one layer's
  // matrices, and the number of layers of that shape. Includes the multi-token-prediction (MTP)
  // layers.
  template <typename Visit>
  void ForEachMatrices(int32_t pipeline_rank, const Visit& visit) const;
  // Calls visit(sums, layers) for each layer shape in each chunk of the rank: one layer's sums, and
  // the number of layers of that shape. Skips the multi-token-prediction (MTP) layers.
  template <typename Visit>
  void ForEachLayers(int32_t pipeline_rank, const Visit& visit) const;
  // Calls visit(unit, count) for the units of parameters on a rank, each of which FSDP gathers as
  // one: embedding, towers, layers, head, final norm.
  template <typename Visit>
  void ForEachUnit(int32_t pipeline_rank, const Visit& visit) const;

 private:
  // Calls visit(sums, layers) for each layer shape in the chunk: one layer's sums, and the number
  // of layers of that shape. Skips the multi-token-prediction (MTP) layers.
  template <typename Visit>
  void ForEachShape(int32_t pipeline_rank, int32_t chunk, const Visit& visit) const {
    const auto stage = static_cast<size_t>(StageOfChunk(layout_, pipeline_rank, chunk));
    for (const ShapeRun& held : stages_->shapes[stage]) visit(block(held.shape), held.layers);
  }
  UnitParameters CountParameters(int32_t pipeline_rank) const;

  const EstimateContext& context_;
  const Layout& layout_;
  std::shared_ptr<const StageTable> stages_;
  ShapeSums blocks_;
  size_t further_shape_ = 0;
  std::vector<std::shared_ptr<const TowerSums>> towers_;
  absl::InlinedVector<UnitParameters, 16> parameters_;  // by pipeline rank
};

template <typename Visit>
void PlannedLayout::ForEachMatrices(int32_t pipeline_rank, const Visit& visit) const {
  for (int32_t chunk = 0; chunk < layout_.vpp; ++chunk) {
    ForEachShape(pipeline_rank, chunk, [&](const BlockSums& block, int64_t layers) {
      visit(block.layer_matrices, layers);
    });
    const int64_t further = context_.model.mtp_layers;
    if (!StageOnRank(pipeline_rank, chunk).has_head || further == 0) continue;
    visit(further_block().layer_matrices, further);
    visit(ends().mtp_matrices, further);
  }
}

template <typename Visit>
void PlannedLayout::ForEachLayers(int32_t pipeline_rank, const Visit& visit) const {
  for (int32_t chunk = 0; chunk < layout_.vpp; ++chunk) {
    ForEachShape(pipeline_rank, chunk, visit);
  }
}

template <typename Visit>
void PlannedLayout::ForEachUnit(int32_t pipeline_rank, const Visit& visit) const {
  for (int32_t chunk = 0; chunk < layout_.vpp; ++chunk) {
    const StageLayers& stage = StageOnRank(pipeline_rank, chunk);
    if (stage.has_embedding) {
      visit(ends().embedding, int64_t{1});
      for (const auto& tower : towers_) {
        visit(tower->block->layer, tower->layers);
        visit(tower->ends, int64_t{1});
      }
    }
    ForEachShape(pipeline_rank, chunk,
                 [&](const BlockSums& block, int64_t layers) { visit(block.layer, layers); });
    if (!stage.has_head) continue;
    // Tied embeddings are one matrix if both ends of the model are on the same rank.
    if (!context_.model.tied_embeddings || !EndsShareRank(layout_)) {
      visit(ends().head, int64_t{1});
    }
    visit(ends().final_norm, int64_t{1});
    if (const int64_t further = context_.model.mtp_layers; further > 0) {
      visit(further_block().layer, further);
      visit(ends().mtp, further);
    }
  }
}

}  // namespace meshwright::planner

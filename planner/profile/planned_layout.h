// A layout under a context, with what its memory and its time have in common worked out once: which
// layers its stages hold, what the layers' operators add up to, and the parameters of each rank.
//
// Refers to the context and the layout, which must outlive it; the layout must be one that
// CheckLayout() accepts.
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
#include "planner/schedule/placement.h"

namespace meshwright::planner {

// Returns the first of the model's groups with layers of the same shape as `group`.
size_t FirstGroupOfShape(const ModelSpec& model, size_t group);

class PlannedLayout {
 public:
  PlannedLayout(const EstimateContext& context, const Layout& layout);

  const EstimateContext& context() const { return context_; }
  const Layout& layout() const { return layout_; }

  // Stage `stage` of pp * vpp.
  const StageLayers& Stage(int32_t stage) const {
    return stages_->stages[static_cast<size_t>(stage)];
  }
  const StageLayers& StageOnRank(int32_t pipeline_rank, int32_t chunk) const {
    return Stage(StageOfChunk(layout_, pipeline_rank, chunk));
  }
  // The first pipeline rank that holds the same.
  int32_t FirstAlike(int32_t pipeline_rank) const {
    return stages_->alike[static_cast<size_t>(pipeline_rank)];
  }

  // A layer of the model's group `group`; of all groups.
  const BlockSums& block(size_t group) const { return *blocks_[group]; }
  std::vector<std::shared_ptr<const BlockSums>> blocks() const {
    return {blocks_.begin(), blocks_.end()};
  }
  // The first group with layers of the same shape: kinds of layers may alternate.
  size_t FirstAlikeGroup(size_t group) const;
  // That of the layers that predict further tokens, too, which stand beside the head.
  const BlockSums& last_block() const { return *blocks_.back(); }
  // The embedding's and the head's are any group's.
  const BlockSums& ends() const { return *blocks_.front(); }

  // Parameters of a device of the pipeline rank, before any ZeRO sharding; and those of the rank
  // that has the most.
  const UnitParameters& ParametersOnRank(int32_t pipeline_rank) const {
    return parameters_[static_cast<size_t>(pipeline_rank)];
  }
  // Those of them that are its blocks'.
  int64_t BlockParametersOnRank(int32_t pipeline_rank) const;
  const UnitParameters& MostParameters() const {
    return *std::max_element(
        parameters_.begin(), parameters_.end(),
        [](const UnitParameters& a, const UnitParameters& b) { return a.all < b.all; });
  }
  // Of the largest piece that is gathered as one: a layer, the embedding or the head.
  int64_t LargestUnit() const;
  // Of the matrices of blocks on a device of the pipeline rank.
  MatrixElements MatricesOnRank(int32_t pipeline_rank) const;
  // Experts of a pipeline rank's layers whose selection biases move.
  int64_t MovedBiasesOnRank(int32_t pipeline_rank) const;
  // Calls visit(matrices, layers) for those of so many layers.
  template <typename Visit>
  void ForEachMatrices(int32_t pipeline_rank, const Visit& visit) const;
  // Calls visit(sums, layers) for so many layers of a rank, those beside the head left out.
  template <typename Visit>
  void ForEachLayers(int32_t pipeline_rank, const Visit& visit) const;
  // Calls visit(unit, count) for the units of a rank: embedding, layers, head, final norm.
  template <typename Visit>
  void ForEachUnit(int32_t pipeline_rank, const Visit& visit) const;

 private:
  UnitParameters CountParameters(int32_t pipeline_rank) const;

  const EstimateContext& context_;
  const Layout& layout_;
  std::shared_ptr<const StageTable> stages_;
  absl::InlinedVector<std::shared_ptr<const BlockSums>, 4> blocks_;  // by layer group
  absl::InlinedVector<UnitParameters, 16> parameters_;               // by pipeline rank
};

template <typename Visit>
void PlannedLayout::ForEachMatrices(int32_t pipeline_rank, const Visit& visit) const {
  for (int32_t chunk = 0; chunk < layout_.vpp; ++chunk) {
    const StageLayers& stage = StageOnRank(pipeline_rank, chunk);
    ForEachGroup(context_.model, stage,
                 [&](size_t group, int64_t layers) { visit(block(group).layer_matrices, layers); });
    const int64_t further = context_.model.mtp_layers;
    if (!stage.has_head || further == 0) continue;
    visit(last_block().layer_matrices, further);
    visit(ends().mtp_matrices, further);
  }
}

template <typename Visit>
void PlannedLayout::ForEachLayers(int32_t pipeline_rank, const Visit& visit) const {
  for (int32_t chunk = 0; chunk < layout_.vpp; ++chunk) {
    ForEachGroup(context_.model, StageOnRank(pipeline_rank, chunk),
                 [&](size_t group, int64_t layers) { visit(block(group), layers); });
  }
}

template <typename Visit>
void PlannedLayout::ForEachUnit(int32_t pipeline_rank, const Visit& visit) const {
  for (int32_t chunk = 0; chunk < layout_.vpp; ++chunk) {
    const StageLayers& stage = StageOnRank(pipeline_rank, chunk);
    if (stage.has_embedding) visit(ends().embedding, int64_t{1});
    ForEachGroup(context_.model, stage,
                 [&](size_t group, int64_t layers) { visit(block(group).layer, layers); });
    if (!stage.has_head) continue;
    // Tied embeddings are one matrix where both ends of the model are on the same rank.
    if (!context_.model.tied_embeddings || !EndsShareRank(layout_)) {
      visit(ends().head, int64_t{1});
    }
    visit(ends().final_norm, int64_t{1});
    if (const int64_t further = context_.model.mtp_layers; further > 0) {
      visit(last_block().layer, further);
      visit(ends().mtp, further);
    }
  }
}

}  // namespace meshwright::planner

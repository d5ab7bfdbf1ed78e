#include "planner/profile/planned_layout.h"

#include "planner/profile/layer_shape.h"
#include "planner/spec/selection_bias.h"

namespace meshwright::planner {

size_t FirstGroupOfShape(const ModelSpec& model, size_t group) {
  const std::vector<LayerGroup>& groups = model.groups;
  const auto alike = std::find_if(groups.begin(), groups.end(), [&](const LayerGroup& other) {
    return other.SameShape(groups[group]);
  });
  return static_cast<size_t>(alike - groups.begin());
}

PlannedLayout::PlannedLayout(const EstimateContext& context, const Layout& layout)
    : context_(context),
      layout_(layout),
      stages_(StagesOf(context.model, layout, context.profile.supports.stage_partition)) {
  const WorkspaceRates rates = WorkspaceRatesOf(context.profile);
  const std::vector<LayerGroup>& groups = context.model.groups;
  for (size_t i = 0; i < groups.size(); ++i) {
    const size_t alike = FirstGroupOfShape(context.model, i);
    blocks_.push_back(alike < i ? blocks_[alike]
                                : BlockSumsOf(LayerShape(context, layout, groups[i]),
                                              RecomputeOf(layout, /*layer=*/0), rates));
  }
  if (context.model.mtp_layer) {
    blocks_.push_back(BlockSumsOf(LayerShape(context, layout, *context.model.mtp_layer),
                                  RecomputeOf(layout, /*layer=*/0), rates));
  }
  for (const Tower& tower : context.model.towers) {
    towers_.push_back(TowerSumsOf(context, layout, tower));
  }
  for (int32_t rank = 0; rank < layout.pp; ++rank) {
    const int32_t alike = FirstAlike(rank);
    parameters_.push_back(alike < rank ? ParametersOnRank(alike) : CountParameters(rank));
  }
}

size_t PlannedLayout::FirstAlikeGroup(size_t group) const {
  const auto alike = std::find(blocks_.begin(), blocks_.end(), blocks_[group]);
  return static_cast<size_t>(alike - blocks_.begin());
}

UnitParameters PlannedLayout::CountParameters(int32_t pipeline_rank) const {
  UnitParameters parameters;
  ForEachUnit(pipeline_rank, [&](const UnitParameters& unit, int64_t count) {
    parameters.all += count * unit.all;
    parameters.vectors += count * unit.vectors;
    parameters.experts += count * unit.experts;
    parameters.expert_vectors += count * unit.expert_vectors;
  });
  return parameters;
}

int64_t PlannedLayout::BlockParametersOnRank(int32_t pipeline_rank) const {
  int64_t parameters = 0;
  for (int32_t chunk = 0; chunk < layout_.vpp; ++chunk) {
    const StageLayers& stage = StageOnRank(pipeline_rank, chunk);
    ForEachGroup(context_.model, stage, [&](size_t group, int64_t layers) {
      parameters += layers * block(group).layer.all;
    });
    if (stage.has_head) parameters += context_.model.mtp_layers * last_block().layer.all;
  }
  return parameters;
}

MatrixElements PlannedLayout::MatricesOnRank(int32_t pipeline_rank) const {
  MatrixElements elements;
  ForEachMatrices(pipeline_rank, [&](const UnitMatrices& matrices, int64_t layers) {
    elements.all += layers * matrices.elements.all;
    elements.experts += layers * matrices.elements.experts;
  });
  return elements;
}

int64_t PlannedLayout::MovedBiasesOnRank(int32_t pipeline_rank) const {
  if (context_.training.routing != Routing::kLearned) return 0;
  int64_t biases = 0;
  ForEachLayers(pipeline_rank, [&](const BlockSums& block, int64_t layers) {
    const Experts& experts = block.shape.experts;
    if (MovesSelectionBias(experts, context_.training)) biases += layers * experts.count;
  });
  return biases;
}

int64_t PlannedLayout::LargestUnit() const {
  int64_t largest = std::max(ends().embedding.all, ends().head.all);
  for (const auto& sums : blocks_) largest = std::max(largest, sums->layer.all);
  for (const auto& tower : towers_) {
    largest = std::max({largest, tower->block->layer.all, tower->ends.all});
  }
  return largest;
}

}  // namespace meshwright::planner

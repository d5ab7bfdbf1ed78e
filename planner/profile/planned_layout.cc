#include "planner/profile/planned_layout.h"

#include <utility>

#include "planner/profile/layer_shape.h"
#include "planner/spec/selection_bias.h"

namespace meshwright::planner {
namespace {

ShapeSums SumsOf(const EstimateContext& context, const Layout& layout) {
  const WorkspaceRates rates = WorkspaceRatesOf(context.profile);
  ShapeSums sums;
  const auto add = [&](const LayerGroup& group, UnitTraining training) {
    sums.push_back(BlockSumsOf(LayerShape(context, layout, group, training),
                               RecomputeOf(layout, /*layer=*/0), rates));
  };
  for (size_t shape = 0; shape < context.shapes.size(); ++shape) {
    add(context.shapes.Of(context.model, shape), context.shapes.TrainingOf(shape));
  }
  if (context.model.mtp_layer) {
    add(*context.model.mtp_layer, context.training.options.train.OfHead());
  }
  return sums;
}

}  // namespace

PlannedLayout::PlannedLayout(const EstimateContext& context, const Layout& layout)
    : PlannedLayout(context, layout,
                    StagesOf(context.model, context.shapes, layout,
                             context.profile.supports.stage_partition)) {}

PlannedLayout::PlannedLayout(const EstimateContext& context, const Layout& layout,
                             std::shared_ptr<const StageTable> stages)
    : PlannedLayout(context, layout, std::move(stages), SumsOf(context, layout)) {}

PlannedLayout::PlannedLayout(const EstimateContext& context, const Layout& layout,
                             std::shared_ptr<const StageTable> stages, const ShapeSums& blocks)
    : context_(context),
      layout_(layout),
      stages_(std::move(stages)),
      blocks_(blocks),
      further_shape_(context.model.mtp_layer ? context.shapes.size()
                                             : context.shapes.runs().back().shape) {
  for (const Tower& tower : context.model.towers) {
    towers_.push_back(TowerSumsOf(context, layout, tower));
  }
  for (int32_t rank = 0; rank < layout.pp; ++rank) {
    const int32_t alike = FirstAlike(rank);
    parameters_.push_back(alike < rank ? ParametersOnRank(alike) : CountParameters(rank));
  }
}

UnitParameters PlannedLayout::CountParameters(int32_t pipeline_rank) const {
  UnitParameters parameters;
  ForEachUnit(pipeline_rank,
              [&](const UnitParameters& unit, int64_t count) { parameters.Add(unit, count); });
  return parameters;
}

int64_t PlannedLayout::BlockParametersOnRank(int32_t pipeline_rank) const {
  int64_t parameters = 0;
  for (int32_t chunk = 0; chunk < layout_.vpp; ++chunk) {
    ForEachShape(pipeline_rank, chunk, [&](const BlockSums& block, int64_t layers) {
      parameters += layers * block.layer.all;
    });
    if (!StageOnRank(pipeline_rank, chunk).has_head) continue;
    parameters += context_.model.mtp_layers * further_block().layer.all;
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

TransitParameters PlannedLayout::LargestUnit() const {
  TransitParameters largest;
  const bool gathers_experts = context_.training.options.experts == ExpertStates::kSharded;
  const auto add = [&](UnitParameters unit) {
    if (!gathers_experts) {
      unit.all -= unit.experts;
      unit.frozen -= unit.frozen_experts;
      unit.four_bit -= unit.four_bit_experts;
    }
    largest.Include(TransitParameters(unit));
  };
  add(ends().embedding);
  add(ends().head);
  for (const auto& sums : blocks_) add(sums->layer);
  for (const auto& tower : towers_) {
    add(tower->block->layer);
    add(tower->ends);
  }
  return largest;
}

}  // namespace meshwright::planner

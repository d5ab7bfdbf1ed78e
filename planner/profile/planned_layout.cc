#include "planner/profile/planned_layout.h"

#include "planner/profile/layer_shape.h"

namespace meshwright::planner {

PlannedLayout::PlannedLayout(const EstimateContext& context, const Layout& layout)
    : context_(context),
      layout_(layout),
      stages_(StagesOf(context.model, layout, context.profile.supports.stage_partition)) {
  const KeptActivations& kept = context.profile.kept;
  const WorkspaceRates rates = {.hidden_bytes = kept.hidden_work_bytes,
                                .ffn_bytes = kept.ffn_work_bytes,
                                .score_bytes = kept.score_work_bytes};
  for (const LayerGroup& group : context.model.groups) {
    blocks_.push_back(BlockSumsOf(LayerShape(context, layout, group), layout.recompute, rates));
  }
  for (int32_t rank = 0; rank < layout.pp; ++rank) {
    const int32_t alike = FirstAlike(rank);
    parameters_.push_back(alike < rank ? ParametersOnRank(alike) : CountParameters(rank));
  }
}

int64_t PlannedLayout::CountParameters(int32_t pipeline_rank) const {
  int64_t parameters = 0;
  ForEachUnit(pipeline_rank,
              [&](const UnitParameters& unit, int64_t count) { parameters += count * unit.all; });
  return parameters;
}

int64_t PlannedLayout::BlockParametersOnRank(int32_t pipeline_rank) const {
  int64_t parameters = 0;
  for (int32_t chunk = 0; chunk < layout_.vpp; ++chunk) {
    ForEachGroup(
        context_.model, StageOnRank(pipeline_rank, chunk),
        [&](size_t group, int64_t layers) { parameters += layers * block(group).layer.all; });
  }
  return parameters;
}

int64_t PlannedLayout::LargestUnit() const {
  int64_t largest = std::max(ends().embedding.all, ends().head.all);
  for (const auto& sums : blocks_) largest = std::max(largest, sums->layer.all);
  return largest;
}

}  // namespace meshwright::planner

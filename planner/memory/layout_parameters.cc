#include "planner/memory/layout_parameters.h"

#include <algorithm>

#include "planner/block/block.h"
#include "planner/profile/layer_shape.h"

namespace meshwright::planner {

LayoutParameters::LayoutParameters(const EstimateContext& context, const Layout& layout)
    : model_(context.model),
      layout_(layout),
      stages_(context.model, layout, context.profile.supports.stage_partition) {
  const BlockShape ends = LayerShape(context, layout, model_.groups.front());
  embedding_ = RankParameters(EmbeddingOperators(ends));
  const OperatorList head = HeadOperators(ends);
  for (const Operator& op : head) {
    UnitParameters& unit = op.name == OperatorName::kFinalNorm ? final_norm_ : head_;
    unit += RankParameters(op);
  }
  largest_unit_ = std::max(embedding_.all, head_.all);
  for (const LayerGroup& group : model_.groups) {
    layer_.push_back(RankParameters(BlockOperators(LayerShape(context, layout, group))));
    largest_unit_ = std::max(largest_unit_, layer_.back().all);
  }
}

int64_t LayoutParameters::OnRank(int32_t pipeline_rank) const {
  int64_t parameters = 0;
  ForEachUnit(pipeline_rank,
              [&](const UnitParameters& unit, int64_t count) { parameters += count * unit.all; });
  return parameters;
}

int64_t LayoutParameters::Most() const {
  int64_t most = 0;
  for (int32_t rank = 0; rank < layout_.pp; ++rank) most = std::max(most, OnRank(rank));
  return most;
}

}  // namespace meshwright::planner

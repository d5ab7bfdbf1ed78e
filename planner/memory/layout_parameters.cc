#include "planner/memory/layout_parameters.h"

#include <algorithm>

#include "planner/base/memo.h"
#include "planner/block/block.h"
#include "planner/profile/layer_shape.h"

namespace meshwright::planner {
namespace {

// Of a layer, and of the ends of its model.
struct ShapeParameters {
  UnitParameters embedding;
  UnitParameters layer;
  UnitParameters head;
  UnitParameters final_norm;
};

ShapeParameters WorkOut(const BlockShape& shape) {
  ShapeParameters parameters = {.embedding = RankParameters(EmbeddingOperators(shape)),
                                .layer = RankParameters(BlockOperators(shape)),
                                .head = {},
                                .final_norm = {}};
  const OperatorList head = HeadOperators(shape);
  for (const Operator& op : head) {
    (op.name == OperatorName::kFinalNorm ? parameters.final_norm : parameters.head) +=
        RankParameters(op);
  }
  return parameters;
}

ShapeParameters ParametersOf(const BlockShape& shape) {
  thread_local Memo<BlockShape, ShapeParameters, kShapesOfASearch> known;
  return known.Get(shape, [&] { return WorkOut(shape); });
}

}  // namespace

LayoutParameters::LayoutParameters(const EstimateContext& context, const Layout& layout)
    : model_(context.model),
      layout_(layout),
      stages_(context.model, layout, context.profile.supports.stage_partition) {
  for (const LayerGroup& group : model_.groups) {
    const ShapeParameters parameters = ParametersOf(LayerShape(context, layout, group));
    embedding_ = parameters.embedding;
    head_ = parameters.head;
    final_norm_ = parameters.final_norm;
    layer_.push_back(parameters.layer);
    largest_unit_ = std::max(largest_unit_, layer_.back().all);
  }
  largest_unit_ = std::max({largest_unit_, embedding_.all, head_.all});
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

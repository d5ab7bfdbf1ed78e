#include "planner/block/stage_partition.h"

#include <cmath>

#include "planner/block/parameters.h"

namespace meshwright::planner {
namespace {

int64_t StagesOf(const Layout& layout) { return int64_t{layout.pp} * layout.vpp; }

// Of a layer and of the head, in one unit.
struct ModelCost {
  double layer = 0.0;
  double head = 0.0;
};

// Layers that the first `stages_done` stages hold: as many as it takes to reach their share.
int64_t LayersByCost(const ModelSpec& model, const ModelCost& cost, int64_t stages,
                     int64_t stages_done) {
  const int64_t layers = model.layers();
  if (stages_done >= stages) return layers;
  const double total = static_cast<double>(layers) * cost.layer + cost.head;
  const double share =
      total * static_cast<double>(stages_done) / static_cast<double>(stages) / cost.layer;
  // A share that ends on a layer's border ends the stage there, whatever the rounding.
  return std::min(layers, static_cast<int64_t>(std::ceil(share - 1e-9)));
}

StageLayers ByCostStage(const ModelSpec& model, const ModelCost& cost, int64_t stages,
                        int64_t stage) {
  const int64_t first = LayersByCost(model, cost, stages, stage);
  return {.first_layer = first,
          .layer_count = LayersByCost(model, cost, stages, stage + 1) - first,
          .has_embedding = stage == 0,
          .has_head = stage == stages - 1};
}

}  // namespace

StagePlan::StagePlan(const ModelSpec& model, const Layout& layout, StagePartition partition)
    : model_(model),
      partition_(partition),
      stages_(StagesOf(layout)),
      layers_(model.layers()),
      items_(layers_) {
  if (partition == StagePartition::kByCost) {
    layer_cost_ = static_cast<double>(ProjectionParameters(model, model.groups.front()));
    head_cost_ = static_cast<double>(EmbeddingParameters(model));
    return;
  }
  if (partition == StagePartition::kItems) {
    before_ = 1;
    items_ = layers_ + 3;
  } else if (layers_ % stages_ != 0) {
    before_ = 1;
    items_ = layers_ + 2;
  }
  per_stage_ = items_ / stages_;
  longer_ = items_ % stages_;
}

StageLayers StagePlan::Stage(int32_t stage) const {
  if (partition_ == StagePartition::kByCost) {
    return ByCostStage(model_, {.layer = layer_cost_, .head = head_cost_}, stages_, stage);
  }
  const int64_t begin = stage * per_stage_ + std::min<int64_t>(stage, longer_);
  const int64_t end = begin + per_stage_ + (stage < longer_ ? 1 : 0);
  const int64_t first = std::clamp<int64_t>(begin - before_, 0, layers_);
  const int64_t last = std::clamp<int64_t>(end - before_, 0, layers_);
  return {.first_layer = first,
          .layer_count = last - first,
          .has_embedding = begin == 0,
          .has_head = end == items_};
}

StageLayers StageOf(const ModelSpec& model, const Layout& layout, StagePartition partition,
                    int32_t stage) {
  return StagePlan(model, layout, partition).Stage(stage);
}

bool CanPartition(const ModelSpec& model, const Layout& layout, StagePartition partition) {
  const int64_t stages = StagesOf(layout);
  const int64_t layers = model.layers();
  if (partition == StagePartition::kEqual) {
    return layers % stages == 0 || ((layers + 2) % stages == 0 && stages > 1);
  }
  return layers >= stages;
}

}  // namespace meshwright::planner

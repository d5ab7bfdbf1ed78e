#include "planner/layout/stage_partition.h"

namespace meshwright {

StageLayers StageOf(const ModelSpec& model, const Layout& layout, int32_t stage) {
  const int64_t stages = int64_t{layout.pp} * layout.vpp;
  const int64_t per_stage = model.layers() / stages;
  return {.first_layer = stage * per_stage,
          .layer_count = per_stage,
          .has_embedding = stage == 0,
          .has_head = stage == stages - 1};
}

}  // namespace meshwright

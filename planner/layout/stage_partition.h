// Which layers each pipeline stage holds.
#pragma once

#include <algorithm>
#include <cstdint>

#include "planner/layout/layout.h"
#include "planner/spec/model_spec.h"

namespace meshwright {

// Layers [first_layer, first_layer + layer_count) and what stands at the ends of the model.
struct StageLayers {
  int64_t first_layer = 0;
  int64_t layer_count = 0;
  bool has_embedding = false;
  bool has_head =
      false;  // final norm and output projection; with tied embeddings also a copy of them
};

// Stage `stage` of pp * vpp equal stages: L / (pp * vpp) layers each, the embedding on the first,
// final norm and head on the last (Megatron-LM's default). Requires layers % (pp * vpp) == 0.
StageLayers StageOf(const ModelSpec& model, const Layout& layout, int32_t stage);

// Calls visit(index of the group, layers of it on the stage) for each layer group that has layers
// there.
template <typename Visit>
void ForEachGroup(const ModelSpec& model, const StageLayers& stage, const Visit& visit) {
  int64_t begin = 0;
  for (size_t i = 0; i < model.groups.size(); ++i) {
    const int64_t end = begin + model.groups[i].count;
    const int64_t first = std::max(begin, stage.first_layer);
    const int64_t last = std::min(end, stage.first_layer + stage.layer_count);
    if (first < last) visit(i, last - first);
    begin = end;
  }
}

}  // namespace meshwright

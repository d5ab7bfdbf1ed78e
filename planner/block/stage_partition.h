// Which layers each pipeline stage holds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "planner/layout/layout.h"
#include "planner/spec/model_spec.h"

namespace meshwright::planner {

// Layers [first_layer, first_layer + layer_count) and what stands at the ends of the model.
struct StageLayers {
  int64_t first_layer = 0;
  int64_t layer_count = 0;
  bool has_embedding = false;
  bool has_head =
      false;  // final norm and output projection; with tied embeddings also a copy of them
};

// How a framework spreads layers, embedding and head over the stages.
enum class StagePartition : uint8_t {
  // L / stages layers each, the embedding on the first stage, final norm and head on the last;
  // where that does not divide, embedding and head take a layer's place each: (L + 2) / stages
  // (Megatron-LM, and its --account-for-embedding/loss-in-pipeline-split).
  kEqual,
  // The list [embedding, L layers, final norm, head] cut into equal parts, what remains over one
  // each to the first stages (Aleph Alpha scaling).
  kItems,
  // Cut where the running sum of matmul FLOPs (layers and head) passes each equal share of the
  // whole (nanotron).
  kByCost,
};

// A layout's stages, worked out once for callers that ask for many of them.
struct StageTable {
  std::vector<StageLayers> stages;  // pp * vpp of them
  // By pipeline rank, the first rank whose chunks hold the same, each as much of each layer group.
  std::vector<int32_t> alike;
};

// Requires CanPartition(). Remembers the last tables, which a search comes back to; may be called
// from any thread.
std::shared_ptr<const StageTable> StagesOf(const ModelSpec& model, const Layout& layout,
                                           StagePartition partition);

// Stage `stage` of pp * vpp. Requires CanPartition().
StageLayers StageOf(const ModelSpec& model, const Layout& layout, StagePartition partition,
                    int32_t stage);

// Whether every stage gets work: kEqual needs a division without remainder.
bool CanPartition(const ModelSpec& model, const Layout& layout, StagePartition partition);

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

}  // namespace meshwright::planner

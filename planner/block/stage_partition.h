// Says which layers each pipeline stage holds, and which stages hold the embedding and the head.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "planner/layout/layout.h"
#include "planner/spec/model_spec.h"

namespace meshwright::planner {

// A stage holds the layers [first_layer, first_layer + layer_count), possibly none.
struct StageLayers {
  int64_t first_layer = 0;
  int64_t layer_count = 0;
  bool has_embedding = false;
  // The final norm and the output projection; with tied embeddings a copy of the embedding's
  // matrix.
  bool has_head = false;
};

// How a framework distributes layers, embedding and head over the stages. A layout that names its
// stages (Layout::stages) overrides it, with the embedding on the first stage and the head on the
// last.
enum class StagePartition : uint8_t {
  // L / stages layers each, the embedding on the first stage, final norm and head on the last;
  // where that does not divide, embedding and head take a layer's place each: (L + 2) / stages
  // (Megatron-LM, and its --account-for-embedding/loss-in-pipeline-split).
  kEqual,
  // The list [embedding, L layers, final norm, head] is cut into equal parts; the first stages get
  // one item more each where a remainder is left (Aleph Alpha scaling).
  kItems,
  // Cut where the running sum of matmul FLOPs (layers and head) passes each equal share of the
  // whole (nanotron).
  kByCost,
};

// A layout's stages, computed once for callers that need many of them.
struct StageTable {
  std::vector<StageLayers> stages;  // pp * vpp of them
  // By pipeline rank: the first rank whose chunks hold the same, counted by layer group.
  std::vector<int32_t> alike;
};

// Returns the table of a layout. Requires CanPartition(). Caches the last tables, which a search
// comes back to. Thread-safe.
std::shared_ptr<const StageTable> StagesOf(const ModelSpec& model, const Layout& layout,
                                           StagePartition partition);

// Returns stage `stage` of pp * vpp. Requires CanPartition().
StageLayers StageOf(const ModelSpec& model, const Layout& layout, StagePartition partition,
                    int32_t stage);

// Returns whether the partition gives every stage an item. kEqual needs a division without
// remainder, and a layout's own stages must be pp * vpp and hold the model's layers.
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

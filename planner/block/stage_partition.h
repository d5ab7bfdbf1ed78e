// Says which layers each pipeline stage holds, and which stages hold the embedding and the head.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "planner/layout/layout.h"
#include "planner/spec/layer_shapes.h"
#include "planner/spec/model_spec.h"

namespace meshwright::planner {

// A stage holds the layers [first_layer, first_layer + layer_count), possibly none.
struct StageLayers {
  int64_t first_layer = 0;
  int64_t layer_count = 0;
  bool has_embedding = false;
  // The head is the final norm and the output projection. With tied embeddings the output
  // projection is a copy of the embedding's matrix.
  bool has_head = false;
};

// The way in which a framework distributes layers, embedding and head over the stages. A layout
// that names its stages (Layout::stages) overrides this; the embedding is then on the first stage
// and the head on the last.
enum class StagePartition : uint8_t {
  // Each stage has L / stages of the L layers. The embedding is on the first stage, the final norm
  // and the head on the last. If L / stages leaves a remainder, embedding and head each count as a
  // layer, so that a stage has (L + 2) / stages (Megatron-LM, and its
  // --account-for-embedding/loss-in-pipeline-split).
  kEqual,
  // The list [embedding, L layers, final norm, head] is cut into equal parts. If this leaves a
  // remainder, each of the first stages gets one item more (Aleph Alpha scaling).
  kItems,
  // Every stage gets an equal share of the matmul FLOPs of layers and head. A stage ends with the
  // layer at which the running sum reaches the stage's share (nanotron).
  kByCost,
};

// The stages of a layout, computed once for callers that need many of them.
struct StageTable {
  std::vector<StageLayers> stages;  // one entry for each of the pp * vpp stages
  // For each stage, the number of its layers of each shape. The shapes are in the order in which
  // they first appear on the stage.
  std::vector<absl::InlinedVector<ShapeRun, 4>> shapes;
  // For each pipeline rank, the first rank with equal contents. The chunks of both ranks hold
  // layers of the same shapes in the same order. Either both hold the embedding or neither does;
  // the same is true of the head.
  std::vector<int32_t> alike;
};

// Returns the table of a layout. `shapes` are those of `model`. Each thread caches its last few
// tables, because a search asks for the same ones again. Thread-safe. REQUIRES: CanPartition().
std::shared_ptr<const StageTable> StagesOf(const ModelSpec& model, const LayerShapes& shapes,
                                           const Layout& layout, StagePartition partition);

// Returns what stage `stage` of the pp * vpp stages holds. REQUIRES: CanPartition().
StageLayers StageOf(const ModelSpec& model, const Layout& layout, StagePartition partition,
                    int32_t stage);

// Returns whether the partition gives every stage something to hold. kEqual needs pp * vpp stages
// that divide the layers or, if there are several, the layers plus 2 (the embedding and the head
// then count as layers). If the layout names its stages, they must be pp * vpp stages that hold
// exactly the model's `layers` layers.
bool CanPartition(int64_t layers, const Layout& layout, StagePartition partition);

// Returns the split into `stages` stages that minimises the FLOPs of the largest stage. Every layer
// is assumed to have the FLOPs of the first layer's matrices and of its attention scores at
// `seq_len` tokens, and the embedding to have none. The last stage also has the head, and gets as
// many layers as it can take without raising this maximum. The other stages share the remaining
// layers evenly. If this leaves a remainder, the later of these stages get one layer more, because
// fewer micro-batches are in flight there. Returns an empty split if one cannot be written
// (StageSplit::kMostLayers). REQUIRES: stages >= 2.
StageSplit SplitByCost(const ModelSpec& model, int64_t seq_len, int64_t stages);

// Calls visit(shape, layers) for each layer group that has layers on the stage, in order, with the
// group's shape and the number of its layers on the stage.
template <typename Visit>
void ForEachRun(const LayerShapes& shapes, const StageLayers& stage, const Visit& visit) {
  const int64_t stage_end = stage.first_layer + stage.layer_count;
  int64_t begin = 0;
  for (const ShapeRun& run : shapes.runs()) {
    if (begin >= stage_end) return;
    const int64_t end = begin + run.layers;
    const int64_t first = std::max(begin, stage.first_layer);
    const int64_t last = std::min(end, stage_end);
    if (first < last) visit(run.shape, last - first);
    begin = end;
  }
}

}  // namespace meshwright::planner

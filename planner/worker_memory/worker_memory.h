// Computes the bytes that Meshwright's own worker holds for one stage, in addition to the weights,
// gradients and optimizer states that it always holds.
//
// The worker's allocations follow fixed rules, so its peak is computed to the byte, not estimated.
// It holds
//
//   blocks and ends       The tensors that the operators of blocks, embedding and head make, save
//                         and free (planner/worker_memory/worker_block.h). The output of a block is
//                         the kept input of the next block. The output of the last block is the
//                         input of the head, or a message.
//   always                A RoPE table of seq_len / cp rows of head_dim numbers. On the last stage,
//                         a loss accumulator of 8 bytes. If routing is learned, a number for each
//                         expert of layers with selection biases.
//   offloaded layers      The tensors that a block keeps leave the device at the end of the block's
//                         forward. They are back right before the block's backward, or right before
//                         the input part of a split backward. The tensors that the input part
//                         leaves for the weight part stay on the device.
//   messages              Each has the size of the rank's part of the residual stream. A message
//                         that was sent is held until OpenSends() later actions that send on its
//                         lane have computed, or until the step ends. The buffer of the next
//                         message to receive is held as long as there is such a message. A message
//                         to another chunk of the same rank is held until that chunk takes it.
//   ZeRO 2 and 3          Buckets of a unit's gradients in the accumulator type, padded as in
//                         planner/worker_memory/unit_shards.h. Two buckets are held: the bucket
//                         that a part of an action fills, and the previous bucket, which is under
//                         reduction and is freed when the next bucket opens. Under layered
//                         accumulation a chunk's buckets and one more are held.
//   ZeRO 3                Gathered weights of the unit in use and of the next unit. Under layered
//                         accumulation, gathered weights of all units of a chunk and of the first
//                         unit of the next chunk.
//
// AdamW updates weights in place, and needs only 8 KiB of sums for the norm of the gradients
// (kGradientNormBytes). Selection biases are updated in place, and need a count of 8 bytes each
// (kSelectionCountBytes). Below ZeRO 3 weights are gathered in place.
//
// The order of a rank's actions decides what it holds simultaneously:
// planner/worker_memory/worker_peak.h, and planner/worker_memory/transient_states.h for ZeRO.
#pragma once

#include <array>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "planner/block/expert_rows.h"
#include "planner/layout/layout.h"
#include "planner/schedule/schedule.h"
#include "planner/worker_memory/worker_block.h"

namespace meshwright::planner {

// Consecutive layers of one shape.
struct WorkerLayers {
  int32_t group = 0;  // the shape's number among those of WorkerStages
  int64_t count = 0;

  friend bool operator==(const WorkerLayers&, const WorkerLayers&) = default;
};

// The layers and ends of the model that one chunk of a rank holds.
struct WorkerStage {
  // In the order of the model. Empty for a stage that holds only an end of the model.
  absl::InlinedVector<WorkerLayers, 2> layers = {};
  bool first = false;  // has the embedding
  bool last = false;   // has the head

  friend bool operator==(const WorkerStage&, const WorkerStage&) = default;
};

// Held bytes by purpose.
struct WorkerActivations {
  int64_t kept_bytes = 0;       // blocks and token ids of micro-batches in flight
  int64_t loss_bytes = 0;       // head and loss
  int64_t workspace_bytes = 0;  // everything else
  int64_t host_bytes = 0;       // offloaded layers' bytes on the host; not part of the total

  int64_t total_bytes() const { return kept_bytes + loss_bytes + workspace_bytes; }

  friend bool operator==(const WorkerActivations&, const WorkerActivations&) = default;
};

// Consecutive layers whose blocks take the same bytes.
struct WorkerRun {
  WorkerBlockBytes block = {};
  int64_t count = 0;
  int32_t group = 0;
  bool offloaded = false;  // between forward and backward the kept bytes are on the host

  // Each returns the bytes that one block keeps there between forward and backward.
  int64_t kept_on_device() const { return offloaded ? 0 : block.kept; }
  int64_t kept_on_host() const { return offloaded ? block.kept : 0; }
};

// The bytes of one micro-batch in one stage.
struct WorkerStageBytes {
  absl::InlinedVector<WorkerRun, 2> runs = {};  // runs in the order of the model
  int64_t layers = 0;
  bool first = false;
  bool last = false;
  WorkerEndBytes ends = {};           // kept bytes of an end that the stage lacks are 0
  WorkerActivations kept = {};        // between forward and backward
  WorkerActivations kept_split = {};  // between the two parts of a split backward
  // The most bytes that the micro-batch holds simultaneously during an action, by ActionKind.
  std::array<WorkerActivations, 4> peak = {};

  int64_t boundary_bytes() const { return ends.stream; }
};

// Computes the bytes of a layout's stages from the bytes of one block of each shape.
class WorkerStages {
 public:
  // `shapes` has at least one shape. `layout` says which layers are recomputed and which are
  // offloaded.
  WorkerStages(absl::Span<const WorkerShape> shapes, const Layout& layout);

  WorkerStageBytes BytesOf(const WorkerStage& stage) const;
  // Returns the bytes of a micro-batch whose tokens are routed to experts as `rows` says. `rows`
  // has one entry for each layer with experts, in the order of the stage.
  WorkerStageBytes BytesOf(const WorkerStage& stage, absl::Span<const ExpertRows> rows) const;

 private:
  // The two kinds of blocks of a shape: the first blocks of a chunk, which Recompute::kBlock
  // recomputes, and the others.
  struct Group {
    WorkerShape shape;
    WorkerBlockBytes first;
    WorkerBlockBytes other;
  };

  // Returns how many blocks at the start of a chunk differ from the chunk's other blocks.
  int64_t FirstLayers() const {
    return layout_.recompute == Recompute::kBlock ? layout_.recompute_layers : 0;
  }

  const Layout layout_;
  WorkerEndBytes ends_;
  absl::InlinedVector<Group, 4> groups_;
};

// The parts of an action, each of which has weights of its own: the embedding (kEmbeddingPart), the
// blocks by index, the head (HeadPart()).
inline constexpr int64_t kEmbeddingPart = -1;
inline int64_t HeadPart(const WorkerStageBytes& stage) { return stage.layers; }

// Returns the number of a block's shape. REQUIRES: 0 <= block < stage.layers.
int32_t GroupOf(const WorkerStageBytes& stage, int64_t block);

// Calls visit(part) in the order in which the action computes. The input part of a backward skips
// the embedding, which has no input gradient.
template <typename Visit>
void ForEachPart(const WorkerStageBytes& stage, ActionKind kind, const Visit& visit) {
  const int64_t first = stage.first && kind != ActionKind::kBackwardInput ? kEmbeddingPart : 0;
  const int64_t last = stage.last ? HeadPart(stage) : stage.layers - 1;
  if (kind == ActionKind::kForward) {
    for (int64_t part = first; part <= last; ++part) visit(part);
  } else {
    for (int64_t part = last; part >= first; --part) visit(part);
  }
}

// Returns the most bytes that the micro-batch holds simultaneously during one part of an action.
WorkerActivations PartPeak(const WorkerStageBytes& stage, ActionKind kind, int64_t part);

}  // namespace meshwright::planner

// What Meshwright's own worker holds of one stage beside the weights, gradients and optimizer
// states that it always holds, byte by byte.
//
// The worker's allocations follow fixed rules, so that its peak is worked out, not estimated:
//
//   blocks and ends       what their operators make, save and free: planner/memory/worker_block.h.
//                         A block's output is the next one's kept input; the last one's is the
//                         head's or a message
//   always                RoPE table of seq_len / cp rows of head_dim statistics; on the last
//                         stage a loss accumulator of 8 bytes
//   messages              the stream's share of an activation each: one that was sent, until the
//                         OpenSends()th action behind it that sends on its lane has computed, or
//                         the step ends; one that the next message is to go to, as long as there is
//                         one; each that waits for another chunk of the rank
//   ZeRO 2 and 3          buckets of a unit's gradients in the accumulator type, padded as in
//                         planner/memory/unit_shards.h: the one that a part of an action fills and
//                         the one before it, which is under reduction and stays until a later one
//                         opens; under layered accumulation those of a chunk, and one
//   ZeRO 3                gathered weights of the unit in use and of the next; under layered
//                         accumulation of a chunk's units, and of the next chunk's first
//
// The optimizer never reaches the peak: it works in place, but for 8 KiB of sums that the
// gradients' norm takes, and below ZeRO-3 weights are gathered in place. What a rank holds at once
// follows from the order of its actions: planner/memory/worker_peak.h, and
// planner/memory/transient_states.h for ZeRO's rows.
#pragma once

#include <array>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "planner/layout/layout.h"
#include "planner/memory/worker_block.h"
#include "planner/memory/worker_stage.h"
#include "planner/schedule/schedule.h"

namespace meshwright::planner {

// Parts of what is held; they add up to it.
struct WorkerActivations {
  int64_t kept_bytes = 0;       // blocks and token ids of micro-batches in flight
  int64_t loss_bytes = 0;       // head and loss
  int64_t workspace_bytes = 0;  // everything else

  int64_t total_bytes() const { return kept_bytes + loss_bytes + workspace_bytes; }

  friend bool operator==(const WorkerActivations&, const WorkerActivations&) = default;
};

// Consecutive layers that take the same.
struct WorkerRun {
  WorkerBlockBytes block = {};
  int64_t count = 0;
  int32_t group = 0;
};

// One micro-batch in one stage.
struct WorkerStageBytes {
  absl::InlinedVector<WorkerRun, 2> runs = {};  // in the order of the model
  int64_t layers = 0;
  bool first = false;
  bool last = false;
  WorkerEndBytes ends = {};           // 0 for an end that the stage does not have
  WorkerActivations kept = {};        // between forward and backward
  WorkerActivations kept_split = {};  // between the two parts of a split backward
  // The most that the micro-batch takes at once during an action, by ActionKind.
  std::array<WorkerActivations, 4> peak = {};

  int64_t boundary_bytes() const { return ends.stream; }
};

// The stages of a layout, put together from what one block of each layer group takes.
class WorkerStages {
 public:
  // `shapes` by layer group, at least one. Under kBlock the first `recompute_layers` of each stage
  // are recomputed as a whole.
  WorkerStages(absl::Span<const WorkerShape> shapes, Recompute recompute, int64_t recompute_layers);

  WorkerStageBytes BytesOf(const WorkerStage& stage) const;

 private:
  // Blocks of a layer group: those that kBlock recomputes, and the others.
  struct Group {
    WorkerBlockBytes recomputed;
    WorkerBlockBytes other;
  };

  const Recompute recompute_;
  const int64_t recompute_layers_;
  WorkerEndBytes ends_;
  absl::InlinedVector<Group, 4> groups_;
};

// The parts of an action that compute with weights of their own: the embedding, each block by its
// index, the head.
inline constexpr int64_t kEmbeddingPart = -1;
inline int64_t HeadPart(const WorkerStageBytes& stage) { return stage.layers; }

// The layer group of a block. Requires 0 <= block < stage.layers.
int32_t GroupOf(const WorkerStageBytes& stage, int64_t block);

// Calls visit(part) in the order in which the action computes. The input part of a backward has
// nothing to do for the embedding.
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

// The most that the micro-batch takes at once during one part of an action.
WorkerActivations PartPeak(const WorkerStageBytes& stage, ActionKind kind, int64_t part);

}  // namespace meshwright::planner

// What Meshwright's own worker holds of one stage beside the weights, gradients and optimizer
// states that it always holds, byte by byte.
//
// The worker's allocations follow fixed rules, so its peak is a formula, not an estimate. T tokens
// of a micro-batch on this rank, e bytes of an element, z of a statistic (4, in fp64 8), t tensor
// parallel ranks, H = T h e, S the rank's share of the residual stream (H, or H/t with sequence
// parallel) and of an activation between two stages, P = T f/t e, K = KeptBytesPerBlock():
//
//   always                RoPE table z d s/c; on the last stage a loss accumulator of 8
//   between forward and   what blocks keep: K; S where they are recomputed, K - 2 S - P under
//   backward              selective recompute; 4 T token ids on the first stage. A block's output
//                         is the next one's kept input; the last one's is x below or a message.
//                         Queries and keys are kept as attention reads them; where their heads are
//                         normed as projected, for what attention read follows from that, in N
//   head and loss         x S, its norm S and deviations z T S/H, logits T V/t e (the gradient
//                         replaces them in place), targets 4 T, softmax statistics 3 z T (and z T
//                         more while they are combined over t > 1 ranks)
//   messages              S each that was sent, until the OpenSends()th action behind it that sends
//                         on its lane has computed, or the step ends; S that the next message is to
//                         go to, as long as there is one; S each that waits for another chunk of
//                         the rank
//   sequence parallel     H of gathered input beside every product that reads the stream, for a
//                         weight gradient from before the product in front of it, and H of partial
//                         sums until S of them are scattered back
//   backward of the FFN   S of incoming gradient; what is computed again: K - S, or S + P; then of
//                         these the largest: P of product gradient; W of the second projection;
//                         when that one's inputs are gone, H of input gradient and W of the first,
//                         whose product runs while the input gradient is summed over the TP group
//   ... of attention      S; T a d/t e of its output's gradient, the kernel's gradients and
//                         scratch (on CUDA planner/memory/cuda_attention.h), with context parallel
//                         the messages of its ring, those of gradients and all their sums in the
//                         accumulator type; where heads are normed N = T (a + k)/t (d e + z) of
//                         normed and turned queries and keys and deviations of their heads,
//                         computed again. The FFN's tensors are gone, unless the backward is split.
//                         Then as in the FFN, without the log-sum-exp
//   ... of the head       H of input gradient and W
//   between the parts of  K less deviations and log-sum-exp of each block, recomputed or not, its
//   a split backward      two residuals S replaced by gradients of all tokens H; the head's norm
//                         and the logits' gradient; S of embedding gradient
//   matrix products       0 but in bf16 on a CPU. There ATen's kernels hold the product in fp32 as
//                         well, so the worker computes it in pieces of kMatmulPieceElements and
//                         holds 4 bytes for each element of a piece
//   W, of a weight        0 where the product adds to the gradient; in bf16 on a CPU a piece of the
//   gradient              product in bf16, beside its fp32 form
//   ZeRO 2 and 3          buckets of a unit's gradients in the accumulator type, padded as in
//                         planner/memory/unit_shards.h: the one that a part of an action fills and
//                         the one before it, which is under reduction and stays until a later one
//                         opens; under layered accumulation those of a chunk, and one
//   ZeRO 3                gathered weights of the unit in use and of the next; under layered
//                         accumulation of a chunk's units, and of the next chunk's first
//
// The optimizer never reaches the peak: it works in place, but for 8 KiB of sums that the
// gradients' norm takes, and below ZeRO-3 weights are gathered in place. Nor does attention's
// forward kernel, which takes less than its backward; it has no row. What a rank holds at once
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

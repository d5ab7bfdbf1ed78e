// What Meshwright's own worker holds beside weights, gradients and optimizer states, byte by byte.
//
// The worker's allocations follow fixed rules, so its peak is a formula, not an estimate. T tokens
// of a micro-batch, e bytes of an element, t tensor parallel ranks, l layers of the stage, n
// micro-batches in flight, K = KeptBytesPerBlock():
//
//   always                    RoPE table 4 s d; on the last stage a loss accumulator of 8
//   per micro-batch in flight l K, and 4 T token ids on the first stage. A block's output is the
//                             next block's kept input; the last one's is x below or a boundary
//   head and loss             x T h e, its norm T h e and deviations 4 T, logits T V/t e (the
//                             gradient replaces them in place), targets 4 T, softmax statistics
//                             12 T (and 4 T more while they are combined over t > 1 ranks)
//   boundary                  T h e of activations on their way to the next stage, from a forward's
//                             end to the next forward's start; likewise the gradients sent back
//   backward of a block       T h e of incoming gradient, and at its peak the largest of
//                             (T f/t e of product gradient), T h e and (T h e + W)
//   forward of the head       nothing more, or the gradient boundary where there is one
//   backward of the head      T h e, and T h e + W
//   matrix products           0 in fp32. In bf16 ATen's CPU kernels hold the product in fp32 as
//                             well, so the worker computes it in pieces of kMatmulPieceElements
//                             and holds 4 bytes for each element of a piece
//   W, of a weight gradient   0 in fp32, where the product adds to the gradient; in bf16 a piece of
//                             the product in bf16, beside its fp32 form
//
// The backward of attention and the optimizer never reach the peak: attention starts after the
// FFN's kept tensors are gone, and the optimizer works in place.
#pragma once

#include <cstdint>

#include "planner/memory/block_tensors.h"

namespace meshwright {

// Elements of a bf16 matrix product that are computed at once on a CPU, at least one row.
inline constexpr int64_t kMatmulPieceElements = int64_t{1} << 20;

// Rows of a product of `rows` x `columns` that are computed at once.
int64_t MatmulPieceRows(int64_t rows, int64_t columns);

// One pipeline rank of a 1F1B layout without recompute, sequence or context parallelism.
struct WorkerStage {
  BlockDims block;  // of its widest layer
  int64_t layers = 0;
  bool first = false;
  bool last = false;
  int64_t in_flight = 1;  // min(m, p - r)
  int64_t micro_batches = 1;
  int64_t seq_len = 0;
  int64_t vocab = 0;  // of the whole model
};

// Parts of the peak; they add up to it.
struct WorkerActivations {
  int64_t kept_bytes = 0;       // blocks and token ids of all micro-batches in flight
  int64_t loss_bytes = 0;       // head and loss, where they are alive at the peak
  int64_t workspace_bytes = 0;  // everything else

  int64_t total_bytes() const { return kept_bytes + loss_bytes + workspace_bytes; }

  friend bool operator==(const WorkerActivations&, const WorkerActivations&) = default;
};

// What a stage keeps of one micro-batch between the head's forward and backward.
int64_t HeadKeptBytes(const WorkerStage& stage);

// The most that `stage` holds at once during a training step.
WorkerActivations PeakWorkerActivations(const WorkerStage& stage);

}  // namespace meshwright

// Activations, loss and working buffers of each pipeline rank's device.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/container/inlined_vector.h"
#include "planner/layout/layout.h"
#include "planner/memory/block_dims.h"
#include "planner/memory/block_tensors.h"
#include "planner/memory/worker_layout.h"
#include "planner/profile/context.h"

namespace meshwright::planner {

struct ActivationBytes {
  int64_t kept_bytes = 0;       // by the layers, for all micro-batches in flight
  int64_t loss_bytes = 0;       // logits and what the cross entropy holds
  int64_t workspace_bytes = 0;  // recomputed layer, gradients at work, receive buffers
};

// A layout's blocks, worked out once for all of its pipeline ranks. Refers to the context and the
// layout, which must outlive it; the layout must be one that CheckLayout() accepts.
class LayoutActivations {
 public:
  LayoutActivations(const EstimateContext& context, const Layout& layout);

  ActivationBytes OnRank(int32_t pipeline_rank) const;
  // Whether the worker's own rules say what is held, to the byte. Workspace then covers what ZeRO
  // holds for a while.
  bool WorkerRulesApply() const { return worker_.has_value(); }
  // Of the sum, where they do.
  WorkerBounds BoundsOnRank(int32_t pipeline_rank) const {
    return worker_->BoundsOnRank(pipeline_rank);
  }

 private:
  // One block of a layer group, one micro-batch.
  struct Block {
    int64_t kept_bytes = 0;        // without recompute, or under selective recompute
    int64_t checkpoint_bytes = 0;  // where it is recomputed
    int64_t working_bytes = 0;     // of its backward pass beside what is kept
    int64_t score_bytes = 0;       // of that, score matrices
  };

  Block MakeBlock(const BlockDims& dims) const;
  int64_t KeptPerMicroBatch(const Block& block, int64_t layers) const;
  int64_t LossBytes() const;

  const EstimateContext& context_;
  const Layout& layout_;
  int64_t micro_batches_;
  std::optional<WorkerLayout>
      worker_;                  // where its rules apply; the others are for where they don't
  int64_t boundary_bytes_ = 0;  // an activation between two stages
  absl::InlinedVector<Block, 4> blocks_;
};

}  // namespace meshwright::planner

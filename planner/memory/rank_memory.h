// Memory of one device: model states, kept activations, loss, workspace and overheads, per pipeline
// rank.
//
// Fujii's estimator (planner/memory/fujii.h) with the terms it leaves out: the real contents of
// each stage, loss and logits, recompute, ZeRO 2 and 3, interleaving, working buffers, and what
// lies outside the allocator.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/layout/layout.h"
#include "planner/profile/planned_layout.h"

namespace meshwright::planner {

// Bytes on one device of one pipeline rank at its peak.
struct MemoryEstimate {
  int64_t weights_bytes = 0;
  int64_t gradients_bytes = 0;
  int64_t optimizer_bytes = 0;
  int64_t activations_bytes = 0;    // kept by the layers for all micro-batches in flight
  int64_t loss_bytes = 0;           // logits and what the cross entropy holds
  int64_t workspace_bytes = 0;      // recomputed layer, gathered weights, working buffers
  int64_t fragmentation_bytes = 0;  // reserved by the caching allocator, not handed out
  int64_t overhead_bytes = 0;       // outside the allocator: device context, communicators
  int32_t pipeline_rank = 0;        // which rank this is

  // What the allocator of the device counts.
  int64_t allocator_bytes() const {
    return weights_bytes + gradients_bytes + optimizer_bytes + activations_bytes + loss_bytes +
           workspace_bytes;
  }
  int64_t total_bytes() const { return allocator_bytes() + fragmentation_bytes + overhead_bytes; }

  friend bool operator==(const MemoryEstimate&, const MemoryEstimate&) = default;
};

// All functions require a layout that CheckLayout() accepts.

// Memory of one device of `pipeline_rank`.
MemoryEstimate EstimateRankMemory(const EstimateContext& context, const Layout& layout,
                                  int32_t pipeline_rank);

// What the allocator counts, by pipeline rank.
std::vector<int64_t> EstimateAllocatorBytes(const EstimateContext& context, const Layout& layout);

// What communicators hold outside the allocator, by pipeline rank.
std::vector<int64_t> EstimateCommunicatorBytes(const EstimateContext& context,
                                               const Layout& layout);

// Memory of the device that is fullest, over all pipeline ranks.
MemoryEstimate EstimateMemory(const PlannedLayout& planned);
inline MemoryEstimate EstimateMemory(const EstimateContext& context, const Layout& layout) {
  return EstimateMemory(PlannedLayout(context, layout));
}

// What the fullest device takes lies between these.
struct MemoryBounds {
  int64_t least_bytes = 0;
  int64_t most_bytes = 0;
};

// Bounds of EstimateMemory().total_bytes(), for a search that needs the estimate of few layouts.
// Of the worker's exact memory (planner/memory/exact_memory.h) they are known after a fraction of
// the estimate's time, without a look at the schedule; elsewhere they are the estimate itself.
MemoryBounds BoundMemory(const PlannedLayout& planned);
inline MemoryBounds BoundMemory(const EstimateContext& context, const Layout& layout) {
  return BoundMemory(PlannedLayout(context, layout));
}

// What the framework's own memory figure would show for this layout: of the rank and kind that its
// profile names. Bytes.
int64_t EstimateMeasuredPeakBytes(const EstimateContext& context, const Layout& layout);

}  // namespace meshwright::planner

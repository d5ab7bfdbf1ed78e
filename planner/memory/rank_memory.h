// Estimates the memory of one device of each pipeline rank, in bytes: model states, kept
// activations, loss, workspace and overheads.
//
// The estimate extends Fujii's (planner/memory/fujii.h) by the real contents of each stage, loss
// and logits, recompute, ZeRO 2 and 3, interleaving, working buffers, memory outside the allocator,
// and offload to the host.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "planner/block/expert_rows.h"
#include "planner/layout/layout.h"
#include "planner/memory/model_states.h"
#include "planner/profile/planned_layout.h"

namespace meshwright::planner {

// The bytes that one device of one pipeline rank holds at its peak.
struct MemoryEstimate {
  int64_t weights_bytes = 0;
  int64_t gradients_bytes = 0;
  int64_t optimizer_bytes = 0;
  int64_t activations_bytes = 0;  // bytes that the layers keep for all micro-batches in flight
  int64_t loss_bytes = 0;         // logits and tensors of the cross entropy
  int64_t workspace_bytes = 0;    // recomputed layer, gathered weights, working buffers
  // Bytes that the caching allocator reserves and does not hand out, and pools of CUDA graphs.
  int64_t fragmentation_bytes = 0;
  int64_t overhead_bytes = 0;  // bytes outside the allocator: device context, communicators
  // The bytes that EstimateContext::correction adds to the other parts. Negative if the user's own
  // runs needed less than estimated.
  int64_t correction_bytes = 0;
  int64_t host_bytes = 0;  // bytes in the host's memory; not part of the sums below
  // The part of host_bytes that an optimizer's paging moved there (Optimizer::paged).
  int64_t paged_bytes = 0;
  int32_t pipeline_rank = 0;  // pipeline rank of the device

  // Returns the bytes that the device's allocator has handed out.
  int64_t allocator_bytes() const {
    return weights_bytes + gradients_bytes + optimizer_bytes + activations_bytes + loss_bytes +
           workspace_bytes;
  }
  int64_t total_bytes() const {
    return allocator_bytes() + fragmentation_bytes + overhead_bytes + correction_bytes;
  }

  friend bool operator==(const MemoryEstimate&, const MemoryEstimate&) = default;
};

// A paged optimizer keeps its states on the device as long as the device's memory is filled up to
// at most this share. The driver pages only if the device is full, but no formula covers everything
// that fills it. The share is therefore chosen: it equals the share that a search lets a layout
// fill (planner/search/search_request.h).
inline constexpr double kPagingShare = 0.8;

// REQUIRES, for all functions: CheckLayout() accepts the layout.

// Returns the memory of one device of `pipeline_rank`.
MemoryEstimate EstimateRankMemory(const EstimateContext& context, const Layout& layout,
                                  int32_t pipeline_rank);

// Returns EstimateRankMemory() of Meshwright's own worker for a step whose tokens were routed to
// experts as `rows` says. There must be one entry for each layer with experts in each forward
// action of the rank's schedule, in the order in which they ran. Returns InvalidArgument if the
// number of entries is wrong.
absl::StatusOr<MemoryEstimate> EstimateRoutedRankMemory(const EstimateContext& context,
                                                        const Layout& layout, int32_t pipeline_rank,
                                                        absl::Span<const ExpertRows> rows);

// Returns MemoryEstimate::allocator_bytes() by pipeline rank.
std::vector<int64_t> EstimateAllocatorBytes(const EstimateContext& context, const Layout& layout);

// Returns MemoryEstimate::host_bytes by pipeline rank. Returns an empty list if the layout offloads
// nothing and the optimizer does not page.
std::vector<int64_t> EstimateHostBytes(const EstimateContext& context, const Layout& layout);

// Returns the bytes that communicators hold outside the allocator, by pipeline rank.
std::vector<int64_t> EstimateCommunicatorBytes(const EstimateContext& context,
                                               const Layout& layout);

// Returns the memory of the fullest device over all pipeline ranks.
MemoryEstimate EstimateMemory(const PlannedLayout& planned);
inline MemoryEstimate EstimateMemory(const EstimateContext& context, const Layout& layout) {
  return EstimateMemory(PlannedLayout(context, layout));
}

// Returns the bytes that the caching allocator reserves and can't hand out on a rank that keeps
// `activations_bytes` and `loss_bytes`: gaps, and the pools of CUDA graphs that GraphPoolShare()
// describes. Without a pipeline there are no gaps: micro-batches run one after another, and each
// allocates the same memory blocks and frees them in reverse order.
int64_t FragmentationBytes(const EstimateContext& context, const Layout& layout,
                           int64_t activations_bytes, int64_t loss_bytes);

// Returns the profile's graph_pool_share if the run's options say that CUDA graphs capture whole
// iterations, otherwise 0. Some measured runs do not say whether they used graphs. Their recipes
// were tuned to fit together with the graphs' pools, so the profile's OOM curve already accounts
// for these pools.
double GraphPoolShare(const EstimateContext& context);

// Returns the bytes that the optimizer step of `held` holds only while it runs. Activations are
// freed by then, so a rank's peak has the larger of activations and these bytes.
int64_t OptimizerStepBytes(const FrameworkProfile& profile, const Layout& layout,
                           const HeldParameters& held);

// Lower and upper bounds of the bytes that the fullest device holds.
struct MemoryBounds {
  int64_t least_bytes = 0;
  int64_t most_bytes = 0;
};

// Returns bounds of EstimateMemory().total_bytes(), which suffice to decide whether most layouts of
// a search fit. For the worker's exact memory (planner/memory/exact_memory.h) the bounds take a
// fraction of the estimate's time, because they do not need the schedule. For other frameworks they
// equal the estimate.
MemoryBounds BoundMemory(const PlannedLayout& planned);
inline MemoryBounds BoundMemory(const EstimateContext& context, const Layout& layout) {
  return BoundMemory(PlannedLayout(context, layout));
}

// Returns a lower bound of EstimateMemory().total_bytes(). The bound is above `allowed_bytes` if
// and only if the estimate is above it. For the worker's exact memory, a rank is computed exactly
// only if its bounds leave open whether it is above `allowed_bytes`. The computation ends at the
// first rank that is above.
int64_t BoundMemoryAgainst(const PlannedLayout& planned, int64_t allowed_bytes);

// Returns the bytes of host memory that the devices of one node hold together, for the node that
// holds the most.
int64_t HostBytesOfNode(const PlannedLayout& planned);

// Returns the bytes that the framework's own memory figure would show for this layout on the rank
// `peak_rank`. The profile gives the kind of peak that the figure reports.
int64_t EstimateMeasuredPeakBytes(const EstimateContext& context, const Layout& layout,
                                  PeakRank peak_rank);

}  // namespace meshwright::planner

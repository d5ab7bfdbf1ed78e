// ProfileMemory estimates the memory of a layout that a framework runs, from the framework's
// profile: Fujii's kept activations (planner/memory/fujii.h) and the terms of the profile, some of
// which are fitted to measurements.
//
// Under offload=act:N the first N layers of each chunk keep their activations on the host. Two
// buffers suffice for the copies: while a layer computes, its neighbour's copy is under way, and
// the next layer waits where that takes longer (planner/cost/offload_time.h counts the wait). A
// pass over a chunk therefore holds what the other layers keep, or two layers where that is more.
#pragma once

#include <cstdint>

#include "planner/memory/chunks_in_flight.h"
#include "planner/memory/memory_model.h"
#include "planner/profile/planned_layout.h"

namespace meshwright::planner {

// The terms of a rank's memory, for callers that compute some of them for many layouts at once.

// Returns the bytes of one micro-batch in `layers` layers of a chunk.
inline int64_t KeptBytes(const Layout& layout, const BlockSums& block, int64_t layers) {
  const int64_t recomputed = RecomputedLayers(layout, layers);
  return recomputed * block.checkpoint_bytes + (layers - recomputed) * block.kept_bytes;
}

// Returns the bytes of the logits of one micro-batch at the peak of the cross entropy, and of the
// final norm's input and output, on the rank of the last stage. `ends` are the sums of the model's
// ends.
int64_t LossBytes(const EstimateContext& context, const Layout& layout, int64_t micro_batches,
                  const BlockSums& ends);

// Returns the bytes in transit under ZeRO-2 and 3 on a rank with `rank_parameters`: the gradients
// of one unit, or of a chunk where several micro-batches are reduced together, and under ZeRO-3 the
// weights of two units, or of a chunk and one more unit under layered accumulation. Requires ZeRO-2
// or 3.
int64_t GatheredBytes(const EstimateContext& context, const Layout& layout, int64_t largest_unit,
                      int64_t rank_parameters);

// Refers to the planned layout, which must outlive it.
class ProfileMemory final : public MemoryModel {
 public:
  explicit ProfileMemory(const PlannedLayout& planned);

  HeldParameters HeldOnRank(int32_t pipeline_rank) const override;
  ActivationBytes ActivationsOnRank(int32_t pipeline_rank) const override;
  ActivationBounds BoundsOnRank(int32_t pipeline_rank) const override;
  int64_t LibraryBytes() const override { return context_.profile.kept.fixed_bytes; }
  int64_t CommunicatorBytes(int32_t pipeline_rank) const override;
  bool OuterRanksAreFullest() const override { return false; }

 private:
  int64_t CopyBuffers(int32_t pipeline_rank) const;

  const PlannedLayout& planned_;
  const EstimateContext& context_;
  const Layout& layout_;
  int64_t micro_batches_;
  int64_t boundary_bytes_;  // of an activation between two stages
};

// Returns the parts of MemoryEstimate::activations_bytes of one device of `pipeline_rank`, as a
// framework's profile counts them: the shares of experts and of latent attention in what a rank
// keeps at its peak. Requires a layout that CheckLayout() accepts.
KeptShares KeptSharesOnRank(const EstimateContext& context, const Layout& layout,
                            int32_t pipeline_rank);

}  // namespace meshwright::planner

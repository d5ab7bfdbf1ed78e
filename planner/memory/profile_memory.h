// ProfileMemory estimates the memory of a layout from the profile of the framework that runs it. It
// adds up Fujii's kept activations (planner/memory/fujii.h) and terms of the profile, some of which
// are fitted to measurements.
//
// Under offload=act:N the first N layers of each chunk keep their activations on the host. Two
// buffers suffice for the copies: while a layer computes, its neighbour's copy is under way. If the
// copy takes longer, the next layer waits (planner/cost/offload_time.h counts the wait). A pass
// over a chunk therefore holds the activations of the chunk's other layers, or of two layers if
// these take more bytes.
#pragma once

#include <cstdint>

#include "planner/memory/chunks_in_flight.h"
#include "planner/memory/memory_model.h"
#include "planner/profile/planned_layout.h"

namespace meshwright::planner {

// The functions below compute single terms of a rank's memory, for callers that need some of them
// for many layouts.

// Returns the bytes that `layers` layers keep for one micro-batch, of which `recomputed` keep only
// their input.
inline int64_t KeptBytes(const BlockSums& block, int64_t layers, int64_t recomputed) {
  return recomputed * block.checkpoint_bytes + (layers - recomputed) * block.kept_bytes;
}

// Returns the bytes that a layer moves to the host if its activations move: its kept tensors, or
// only its input under rc=full.
inline int64_t OffloadedBytes(const BlockSums& block, const Layout& layout) {
  return layout.recompute == Recompute::kFull ? block.checkpoint_bytes : block.kept_bytes;
}

// Returns the bytes of the loss on the rank of the last stage, over all micro-batches whose
// backward has not begun there. Each micro-batch holds its logits and the input and output of the
// final norm. One micro-batch is at the peak of the cross entropy. Under loss=chunked:N the logits
// of only one chunk are held, and in addition the gradient of the head's input. `ends` holds the
// sums of the embedding and the head.
int64_t LossBytes(const EstimateContext& context, const Layout& layout, int64_t micro_batches,
                  const BlockSums& ends);

// Returns the bytes of unreduced gradients and gathered weights on a rank with the parameters
// `rank`. The gradients are those of one unit, or of a chunk if several micro-batches are reduced
// together. Under ZeRO-2 the bytes include its buckets. Under ZeRO-3 they include the weights of
// two units, or of a chunk and one unit under layered accumulation. If the framework keeps more
// weights gathered than that, all these weights count instead. REQUIRES: ZeRO-2 or 3.
int64_t GatheredBytes(const EstimateContext& context, const Layout& layout,
                      const TransitParameters& largest_unit, const TransitParameters& rank);

// The planned layout must outlive this object.
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
  void AddTowers(int64_t in_flight, ActivationBytes& bytes) const;

  const PlannedLayout& planned_;
  const EstimateContext& context_;
  const Layout& layout_;
  int64_t micro_batches_;
  int64_t boundary_bytes_;  // bytes of an activation between two stages
};

// Returns the parts of MemoryEstimate::activations_bytes that experts and latent attention keep, on
// one device of `pipeline_rank`. The parts are counted as in a framework's profile. REQUIRES:
// CheckLayout() accepts the layout.
KeptShares KeptSharesOnRank(const EstimateContext& context, const Layout& layout,
                            int32_t pipeline_rank);

}  // namespace meshwright::planner

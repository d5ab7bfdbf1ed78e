// MemoryModel computes the part of a rank's memory that depends on the program that runs the
// layout.
//
// There are two implementations. ProfileMemory estimates a framework's memory from its profile.
// ExactMemory follows the allocations of Meshwright's own worker to the byte. A MemoryModel is
// constructed for one layout and computes once the figures that the layout's ranks share. The
// construction does not allocate on the heap if the planned model's layers have at most four
// shapes. planner/memory/rank_memory.h chooses the implementation and adds up a rank's memory.
#pragma once

#include <cstdint>

#include "planner/memory/model_states.h"

namespace meshwright::planner {

// The bytes that a rank holds at its peak in addition to the model states.
struct ActivationBytes {
  int64_t kept_bytes = 0;       // activations of the layers, for all micro-batches in flight
  int64_t loss_bytes = 0;       // logits and tensors of the cross entropy
  int64_t workspace_bytes = 0;  // recomputed tensors, gradients, receive buffers
  int64_t host_bytes = 0;       // bytes moved to the host's memory; not part of the total

  int64_t total_bytes() const { return kept_bytes + loss_bytes + workspace_bytes; }

  friend bool operator==(const ActivationBytes&, const ActivationBytes&) = default;
};

// Lower and upper bounds of the total bytes that a rank holds at its peak. Only the totals are
// bounds; the single parts are not.
struct ActivationBounds {
  ActivationBytes least;
  ActivationBytes most;
};

class MemoryModel {
 public:
  virtual ~MemoryModel() = default;

  // Returns the numbers of parameters whose states the rank holds.
  virtual HeldParameters HeldOnRank(int32_t pipeline_rank) const = 0;

  // Returns the bytes of activations, loss and workspace. Model states that are held only
  // temporarily (gathered weights, and gradients on their way to shards) count as workspace.
  virtual ActivationBytes ActivationsOnRank(int32_t pipeline_rank) const = 0;

  // Returns bounds of ActivationsOnRank(). Both bounds equal its result if bounds are not cheaper
  // to compute.
  virtual ActivationBounds BoundsOnRank(int32_t pipeline_rank) const = 0;

  // Returns the bytes that libraries hold in the allocator throughout: tables and workspaces.
  virtual int64_t LibraryBytes() const = 0;

  // Returns the bytes that communicators hold outside the allocator.
  virtual int64_t CommunicatorBytes(int32_t pipeline_rank) const = 0;

  // Returns whether one of the first two or the last two pipeline ranks is the fullest.
  virtual bool OuterRanksAreFullest() const = 0;

 protected:
  MemoryModel() = default;
  MemoryModel(const MemoryModel&) = default;
  MemoryModel& operator=(const MemoryModel&) = default;
};

}  // namespace meshwright::planner

// What a rank of a layout holds, as far as that depends on who runs the layout.
//
// There are two models: a framework's is estimated from what its profile says (ProfileMemory), that
// of Meshwright's own worker follows its allocations to the byte (ExactMemory). A model is made for
// one layout, works out once what its ranks have in common, and allocates nothing on the heap for
// models of up to four layer groups; planner/memory/rank_memory.h chooses it and puts a rank's
// memory together.
#pragma once

#include <cstdint>

#include "planner/memory/model_states.h"

namespace meshwright::planner {

// What a rank holds at its peak beside the model states. Bytes.
struct ActivationBytes {
  int64_t kept_bytes = 0;       // by the layers, for all micro-batches in flight
  int64_t loss_bytes = 0;       // logits and what the cross entropy holds
  int64_t workspace_bytes = 0;  // recomputed layer, gradients at work, receive buffers

  int64_t total_bytes() const { return kept_bytes + loss_bytes + workspace_bytes; }

  friend bool operator==(const ActivationBytes&, const ActivationBytes&) = default;
};

// What a rank holds at its peak lies between these, whatever of it is kept.
struct ActivationBounds {
  ActivationBytes least;
  ActivationBytes most;
};

class MemoryModel {
 public:
  virtual ~MemoryModel() = default;

  // The parameters whose states the rank holds.
  virtual HeldParameters HeldOnRank(int32_t pipeline_rank) const = 0;

  // Activations, loss, workspace, and model states that are there for a while only: gathered
  // weights and gradients on their way to shards.
  virtual ActivationBytes ActivationsOnRank(int32_t pipeline_rank) const = 0;

  // Bounds of the same. Equal where they take no less time than the figure itself.
  virtual ActivationBounds BoundsOnRank(int32_t pipeline_rank) const = 0;

  // What libraries hold in the allocator throughout: tables and workspaces.
  virtual int64_t LibraryBytes() const = 0;

  // What communicators hold outside the allocator.
  virtual int64_t CommunicatorBytes(int32_t pipeline_rank) const = 0;

  // Whether one of the first two or the last two pipeline ranks is the fullest.
  virtual bool OuterRanksAreFullest() const = 0;

 protected:
  MemoryModel() = default;
  MemoryModel(const MemoryModel&) = default;
  MemoryModel& operator=(const MemoryModel&) = default;
};

}  // namespace meshwright::planner

// Plans when a rank that holds shards of its weights (ZeRO-3) gathers and releases them. The plan
// is a pure function of the order in which the rank computes.
//
// The weights of a computation are gathered while the computation before it runs. The weights are
// released after their computation unless the next computation needs them as well. At most one
// computation's weights are gathered ahead. Layered gradient accumulation (arXiv 2106.02679) keeps
// a chunk's gathered weights until all micro-batches have passed through the chunk.
//
// The worker executes the plan, and the memory estimate adds up its bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "planner/schedule/schedule.h"

namespace meshwright::planner {

// Parameter units that are gathered together. Units are numbered across all chunks of a rank.
using UnitGroup = absl::InlinedVector<int32_t, 2>;

// The weights that a chunk uses in its forward pass, in order. Its backward uses them in reverse.
struct ChunkWeights {
  std::vector<UnitGroup> groups;
  bool has_embedding = false;  // the first group is the embedding, whose backward needs no weights
};

// The weights of one computation. A unit stays gathered between its uses in the same pass.
struct WeightUse {
  UnitGroup units;
  int32_t pass = 0;
};

// Returns the uses of all actions, in order. If `layered`, consecutive actions of one kind on one
// chunk are one pass; otherwise every use is a pass of its own.
std::vector<WeightUse> WeightUses(const std::vector<Action>& actions,
                                  const std::vector<ChunkWeights>& chunks, bool layered);

// The gathers and releases around one use. Every unit that is gathered is used, and later released.
struct GatherStep {
  UnitGroup gather;    // units gathered before this use, as no earlier step could prefetch them
  UnitGroup prefetch;  // units for a later use, gathered once this use's weights are gathered
  UnitGroup release;   // units released after the computation
};

// Returns one step per use.
std::vector<GatherStep> PlanGathers(const std::vector<WeightUse>& uses);

}  // namespace meshwright::planner

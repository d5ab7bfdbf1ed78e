// When a rank that holds shards of its weights (ZeRO-3) has which of them whole: a pure function of
// the order in which it computes.
//
// A computation's weights are gathered while the one before it runs, and released after it. What
// the next computation needs too stays. Layered gradient accumulation (arXiv 2106.02679) keeps the
// weights of a chunk for all micro-batches of its pass. At most one computation's weights are
// gathered ahead.
//
// The worker carries the plan out; the memory estimate adds up its bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "planner/schedule/schedule.h"

namespace meshwright::planner {

// Units of parameters that are gathered as one, by their numbers over all chunks of a rank.
using UnitGroup = absl::InlinedVector<int32_t, 2>;

// What a chunk computes with in its forward pass, in order. Its backward goes the other way round.
struct ChunkWeights {
  std::vector<UnitGroup> groups;
  bool has_embedding = false;  // the first group: its backward needs no weights
};

// One computation. Weights stay from one use to the next within a pass.
struct WeightUse {
  UnitGroup units;
  int32_t pass = 0;
};

// Of all actions in their order. `layered`: actions of one kind on one chunk that follow on each
// other are one pass; else every use is its own.
std::vector<WeightUse> WeightUses(const std::vector<Action>& actions,
                                  const std::vector<ChunkWeights>& chunks, bool layered);

// What happens around one use. All that is gathered is used later, all that was gathered is
// released.
struct GatherStep {
  UnitGroup gather;    // for this use, where none before could do it ahead
  UnitGroup prefetch;  // for a later use, when this one's weights are there
  UnitGroup release;   // when the computation is over
};

// One step for each use.
std::vector<GatherStep> PlanGathers(const std::vector<WeightUse>& uses);

}  // namespace meshwright::planner

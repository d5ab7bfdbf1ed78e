// Counts the parameters of a tower that each tensor-parallel rank holds.
#pragma once

#include <cstdint>

#include "planner/block/parameters.h"
#include "planner/spec/tower.h"

namespace meshwright::planner {

// Returns the parameters of a tower on each of `tp` ranks. If tp divides the heads and the FFN's
// width, the blocks are divided as a language model's are; otherwise each rank holds all of them
// (Megatron-LM). Patches, positions and the projector are whole on every rank. Each thread caches
// the last few towers, because a search asks for each of its layouts. Thread-safe.
UnitParameters TowerRankParameters(const Tower& tower, int64_t tp);

}  // namespace meshwright::planner

// Counts the parameters of a tower (planner/spec/tower.h).
#pragma once

#include <cstdint>

#include "planner/block/parameters.h"
#include "planner/spec/tower.h"

namespace meshwright::planner {

// Return the parameters of the undivided tower, and of one of its blocks.
int64_t TowerParameters(const Tower& tower);
int64_t TowerBlockParameters(const Tower& tower);

// Returns the sum of TowerParameters() over a model's towers.
int64_t TowerParameters(const ModelSpec& model);

// Returns the parameters of a tower that each of `tp` ranks holds. If tp divides the heads and the
// FFN's width, the blocks are divided as a language model's are; otherwise each rank holds all of
// them (Megatron-LM). Patches, positions and the projector are whole on every rank.
UnitParameters TowerRankParameters(const Tower& tower, int64_t tp);

}  // namespace meshwright::planner

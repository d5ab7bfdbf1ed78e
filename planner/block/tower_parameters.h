// Counts the parameters of towers (planner/spec/tower.h).
#pragma once

#include <cstdint>

#include "planner/block/block_shape.h"
#include "planner/spec/model_spec.h"
#include "planner/spec/tower.h"

namespace meshwright::planner {

// Returns the shape of a tower's block, which is a block of a transformer with as many key heads as
// query heads, divided over `tp` ranks.
BlockShape TowerShape(const Tower& tower, int64_t tp);

// Returns the parameters of the undivided tower.
int64_t TowerParameters(const Tower& tower);

// Returns the sum of TowerParameters() over a model's towers.
int64_t TowerParameters(const ModelSpec& model);

}  // namespace meshwright::planner

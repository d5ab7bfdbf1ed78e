// Counts the parameters and the FLOPs of towers (planner/spec/tower.h).
#pragma once

#include <cstdint>

#include "planner/spec/model_spec.h"
#include "planner/spec/tower.h"
#include "planner/spec/trained_parts.h"

namespace meshwright::planner {

// Returns the parameters of the undivided tower.
int64_t TowerParameters(const Tower& tower);

// Returns the sum of TowerParameters() over a model's towers.
int64_t TowerParameters(const ModelSpec& model);

// Returns the FLOPs, forward and backward, of a tower that turns patches into `tokens` tokens of a
// sequence.
double TowerFlops(const Tower& tower, int64_t tokens, const TrainedParts& parts = {});

}  // namespace meshwright::planner

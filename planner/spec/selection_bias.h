// Decides whether Meshwright's own worker updates the biases that a router picks experts by.
#pragma once

#include <cstdint>

#include "planner/spec/model_spec.h"
#include "planner/spec/training_spec.h"

namespace meshwright::planner {

// A count for each expert of a layer whose selection biases are updated: how often a step's tokens
// picked it, summed over the ranks that route them.
inline constexpr int64_t kSelectionCountBytes = 8;

// Where routing is fixed, nothing is picked, and no bias is updated.
inline bool MovesSelectionBias(const Experts& experts, const TrainingSpec& training) {
  return experts.selection_bias && experts.bias_update_rate > 0.0 &&
         training.routing == Routing::kLearned;
}

}  // namespace meshwright::planner

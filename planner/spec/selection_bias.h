// Whether Meshwright's own worker moves the biases that a router picks experts by.
#pragma once

#include <cstdint>

#include "planner/spec/model_spec.h"
#include "planner/spec/training_spec.h"

namespace meshwright::planner {

// Of each expert of a layer whose selection biases move: how often a step's tokens picked it, which
// the ranks that route them add up.
inline constexpr int64_t kSelectionCountBytes = 8;

// Where tokens go by force, nothing is picked, and nothing moves.
inline bool MovesSelectionBias(const Experts& experts, const TrainingSpec& training) {
  return experts.selection_bias && experts.bias_update_rate > 0.0 &&
         training.routing == Routing::kLearned;
}

}  // namespace meshwright::planner

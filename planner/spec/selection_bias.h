// Decides whether Meshwright's own worker updates selection biases, which a router adds to its
// scores when it picks experts.
#pragma once

#include <cstdint>

#include "planner/spec/model_spec.h"
#include "planner/spec/training_spec.h"

namespace meshwright::planner {

// The bytes of one expert's count, which an update of its selection bias needs. The count is how
// often a step's tokens picked the expert, summed over the ranks that route them.
inline constexpr int64_t kSelectionCountBytes = 8;

// Returns whether a step updates the selection biases. Fixed routing picks no experts, so it
// updates no bias.
inline bool MovesSelectionBias(const Experts& experts, const TrainingSpec& training) {
  return experts.selection_bias && experts.bias_update_rate > 0.0 &&
         training.routing == Routing::kLearned;
}

}  // namespace meshwright::planner

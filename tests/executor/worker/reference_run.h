// ReferenceRun holds the results of the reference for a run: the gradients of the first step, and
// the loss and gradient norm of each step.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "planner/spec/model_spec.h"
#include "planner/spec/training_spec.h"
#include "tests/executor/worker/reference_model.h"

namespace meshwright::worker {

struct ReferenceRun {
  // Gradients in the model's shape, by parameter name (executor/worker/state/parameter_map.h).
  std::map<std::string, at::Tensor> first_gradients;
  std::vector<ReferenceStep> steps;
};

// Returns the first `steps` steps of a run. A process computes each run once, because most layouts
// of a table train the same model in the same way. Must be called from one thread only.
const ReferenceRun& ReferenceRunOf(const planner::ModelSpec& model,
                                   const planner::TrainingSpec& training, uint64_t seed,
                                   int64_t steps);

}  // namespace meshwright::worker

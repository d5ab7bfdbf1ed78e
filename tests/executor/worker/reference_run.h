// ReferenceRun is what the reference computes of a run: the gradients of its first step, and each
// step's numbers.
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
  // By the names of executor/worker/state/parameter_map.h, in the model's shape.
  std::map<std::string, at::Tensor> first_gradients;
  std::vector<ReferenceStep> steps;
};

// Returns the first `steps` steps of a run. A process computes each run once, because most layouts
// of a table train the same model in the same way. Call it from one thread alone.
const ReferenceRun& ReferenceRunOf(const planner::ModelSpec& model,
                                   const planner::TrainingSpec& training, uint64_t seed,
                                   int64_t steps);

}  // namespace meshwright::worker

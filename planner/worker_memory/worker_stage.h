// WorkerStage is the layers and ends of the model that one chunk of a rank holds, for counting the
// memory of Meshwright's own worker.
#pragma once

#include <cstdint>

#include "absl/container/inlined_vector.h"

namespace meshwright::planner {

// Consecutive layers of one of the model's layer groups.
struct WorkerLayers {
  int32_t group = 0;
  int64_t count = 0;

  friend bool operator==(const WorkerLayers&, const WorkerLayers&) = default;
};

struct WorkerStage {
  // In the order of the model. Empty for a stage that holds only an end of the model.
  absl::InlinedVector<WorkerLayers, 2> layers = {};
  bool first = false;
  bool last = false;

  friend bool operator==(const WorkerStage&, const WorkerStage&) = default;
};

}  // namespace meshwright::planner

// Says which runs fill the hosts' memory.
#pragma once

#include "planner/layout/layout.h"
#include "planner/spec/training_spec.h"

namespace meshwright::planner {

// Returns whether the layout or the training's optimizer moves bytes to the hosts.
inline bool FillsHost(const TrainingSpec& training, const Layout& layout) {
  return layout.offload.any() || training.optimizer.paged;
}

}  // namespace meshwright::planner

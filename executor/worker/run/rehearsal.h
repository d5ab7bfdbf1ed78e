// A micro-batch's forward and backward in each of a rank's stages, before the first step.
//
// CUDA loads a kernel's code when it is first launched, and may wait until the device has done what
// was issued before. A receive that is posted ahead (planner/schedule/messages.h) is not done
// before its message is there, which may depend on what is about to be launched: the rank would
// wait for itself. So every kernel of a forward and a backward runs once while no message is on its
// way.
#pragma once

#include <memory>
#include <vector>

#include "executor/worker/model/stage.h"
#include "executor/worker/state/rank_context.h"

namespace meshwright::worker {

// All ranks of the run call it. Holds no more than a step does, and leaves weights and optimizer
// states as they are; gradients hold no defined values until a step begins.
void Rehearse(RankContext& context, const std::vector<std::unique_ptr<Stage>>& stages);

}  // namespace meshwright::worker

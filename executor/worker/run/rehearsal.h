// Rehearse() runs one micro-batch's forward and backward in each of a rank's stages before the
// first step.
//
// CUDA loads a kernel's code at its first launch, and may then wait for all work that was issued
// before. A receive that was posted ahead (planner/schedule/messages.h) is unfinished until its
// message arrives. If the message depends on the kernel that is about to be launched, the rank
// deadlocks with itself. Every kernel of forward and backward therefore first runs while no message
// is in transit.
#pragma once

#include <memory>
#include <vector>

#include "executor/worker/model/stage.h"
#include "executor/worker/state/rank_context.h"

namespace meshwright::worker {

// Rehearses `stages`. All ranks of the run must call it. Holds no more memory than a step and
// leaves weights and optimizer states unchanged; gradients are undefined until a step begins.
void Rehearse(RankContext& context, const std::vector<std::unique_ptr<Stage>>& stages);

}  // namespace meshwright::worker

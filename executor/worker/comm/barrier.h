// Barrier() is a barrier of all ranks of a run.
#pragma once

#include "executor/worker/comm/communicator.h"
#include "executor/worker/comm/device.h"

namespace meshwright::worker {

// Returns once all ranks of `world` have called Barrier() and `device` has finished the work that
// was issued before the call.
void Barrier(Communicator& world, Device& device);

}  // namespace meshwright::worker

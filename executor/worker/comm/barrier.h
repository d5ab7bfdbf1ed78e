// A barrier of all ranks of a run.
#pragma once

#include "executor/worker/comm/communicator.h"
#include "executor/worker/comm/device.h"

namespace meshwright::worker {

// Returns once all ranks of `world` have called it and `device` has finished the work that was
// issued before.
void Barrier(Communicator& world, Device& device);

}  // namespace meshwright::worker

// Where all ranks of a run wait for each other.
#pragma once

#include "executor/worker/comm/communicator.h"
#include "executor/worker/comm/device.h"

namespace meshwright::worker {

// Returns when all ranks of `world` have called it and `device` is done with what was issued
// before.
void Barrier(Communicator& world, Device& device);

}  // namespace meshwright::worker

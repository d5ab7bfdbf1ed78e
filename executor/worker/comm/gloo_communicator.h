// Communicator over gloo: ranks as processes (or threads), tensors in CPU memory, sockets between.
#pragma once

#include "executor/worker/comm/device.h"

namespace meshwright::worker {

// Turns off Torch's record of past collectives, which all groups of a process write to without a
// lock (seen in torch 2.11). Call it once, before the first group and before there are threads.
void DisableFlightRecorder();

// Sockets are bound to `address`, this host's numeric address or a name of it, as the other ranks
// reach it. Blocks until all ranks of the group are there; throws CommunicationError when they
// don't come within the group's timeout.
std::unique_ptr<Communicator> ConnectGloo(const c10::intrusive_ptr<c10d::Store>& store,
                                          const GroupSpec& group, int32_t rank,
                                          const std::string& address);

}  // namespace meshwright::worker

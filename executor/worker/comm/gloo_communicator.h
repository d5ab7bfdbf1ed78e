// ConnectGloo() makes a Communicator over Gloo. Its ranks are processes or threads with tensors in
// CPU memory, connected by sockets.
#pragma once

#include "executor/worker/comm/device.h"

namespace meshwright::worker {

// Turns off Torch's flight recorder of collectives: all groups of a process write to it without a
// lock (seen in torch 2.11). Must be called once, before the first group and before other threads
// exist.
void DisableFlightRecorder();

// Connects global rank `rank` to `group`. Binds sockets to `address`, a numeric address or a name
// of this host at which the other ranks reach it. Blocks until all ranks of the group have
// connected, and throws CommunicationError if they don't within the group's timeout.
std::unique_ptr<Communicator> ConnectGloo(const c10::intrusive_ptr<c10d::Store>& store,
                                          const GroupSpec& group, int32_t rank,
                                          const std::string& address);

}  // namespace meshwright::worker

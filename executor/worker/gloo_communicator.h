// Communicator over gloo: ranks as processes (or threads), tensors in CPU memory, sockets between.
#pragma once

#include "executor/worker/device.h"

namespace meshwright {

// Sockets are bound to the loopback interface. Blocks until all ranks of the group are there;
// throws CommunicationError when they don't come within the group's timeout.
std::unique_ptr<Communicator> ConnectGloo(const c10::intrusive_ptr<c10d::Store>& store,
                                          const GroupSpec& group, int32_t rank);

}  // namespace meshwright

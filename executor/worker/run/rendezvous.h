// OpenStore() opens torchrun's key-value store, in which ranks meet before they have groups.
#pragma once

#include <chrono>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "executor/worker/run/worker_environment.h"

namespace meshwright::worker {

// Returns the store, which rank 0 serves. Rank 0 must not end before the other ranks have stopped
// using the store. `timeout` bounds every wait. Throws c10::Error if the store can't be reached.
c10::intrusive_ptr<c10d::Store> OpenStore(const WorkerEnvironment& environment,
                                          std::chrono::milliseconds timeout);

}  // namespace meshwright::worker

// MakeFakeCommunicator() makes a Communicator for slice trials, in which one process runs alone as
// rank k of a group of N.
//
// Nothing is sent, and every operation completes immediately. Shapes are checked. Results have the
// right shape, type and device, but not the right values: the other ranks' contributions are
// assumed to equal this rank's own. Received messages are filled with noise, since devices are
// faster on zeros. Each call is reported, so that its time can be charged from a cost model.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "executor/worker/comm/communicator.h"
#include "executor/worker/comm/device.h"
#include "planner/spec/collective_kind.h"

namespace meshwright::worker {

struct FakeCall {
  planner::CollectiveKind operation = planner::CollectiveKind::kAllReduce;
  // Size of the full buffer: a rank's buffer before an all-reduce or a reduce-scatter, or after an
  // all-gather; the larger side of an all-to-all; the message of a broadcast, send or receive.
  int64_t bytes = 0;
};

// Returns the communicator of rank `rank` among `size` ranks. Calls `report`, which may be empty,
// for each operation. Throws CommunicationError if `rank` is not in [0, size).
std::unique_ptr<Communicator> MakeFakeCommunicator(int32_t rank, int32_t size,
                                                   std::function<void(const FakeCall&)> report);

// Returns the communicator of global rank `rank` in `group`, which reports no calls.
std::unique_ptr<Communicator> MakeFakeCommunicator(const GroupSpec& group, int32_t rank);

}  // namespace meshwright::worker

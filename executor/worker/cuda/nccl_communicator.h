// ConnectNccl() makes a Communicator over NCCL, with one device per rank.
#pragma once

#include <memory>
#include <string>

#include "executor/worker/comm/device.h"
#include "executor/worker/cuda/cuda_timeline.h"

namespace meshwright::worker {

// Returns the version of NCCL, such as "2.28.9".
std::string NcclVersion();

// Connects global rank `rank` to `group`. Wait() orders the current stream after the operation and
// returns immediately. If peers don't answer within the group's timeout, NCCL's watchdog ends the
// rank's process, since NCCL's kernels can't be interrupted. Close() waits for the group's kernels
// and, within a host, for the other ranks; a group that is destroyed without Close() is aborted.
// DoneTime reports the ends of operations on `timeline`.
std::unique_ptr<Communicator> ConnectNccl(const c10::intrusive_ptr<c10d::Store>& store,
                                          const GroupSpec& group, int32_t rank, at::Device device,
                                          std::shared_ptr<const CudaTimeline> timeline);

}  // namespace meshwright::worker

// NcclTuning holds NCCL's settings for the operations of a group.
#pragma once

#include <optional>

#include "executor/worker/comm/device.h"

namespace meshwright::worker {

struct NcclTuning {
  // Most SMs that an operation may use; NCCL's default if unset.
  std::optional<int> max_ctas;
  // If true, NCCL's kernels get SMs before waiting computation kernels.
  bool high_priority = true;
};

// All groups get high priority: an NCCL kernel that queues behind a matmul's blocks delays every
// other rank of its group, although it needs few SMs itself. Megatron-LM offers this choice per
// group for the same reason (--high-priority-stream-groups).
//
// Messages get few SMs. A message is only a copy that runs concurrently with computation, and a
// receive that is posted ahead occupies its SMs until the message arrives. The device benchmark
// times messages in such a group, so that the planner uses the resulting rates.
inline NcclTuning NcclTuningOf(Traffic traffic) {
  constexpr int kMessageCtas = 4;
  if (traffic == Traffic::kMessages) return {.max_ctas = kMessageCtas};
  return {};
}

}  // namespace meshwright::worker

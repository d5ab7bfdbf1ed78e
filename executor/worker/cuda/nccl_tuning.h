// How NCCL is to carry out the operations of a group.
#pragma once

#include <optional>

#include "executor/worker/comm/device.h"

namespace meshwright::worker {

struct NcclTuning {
  // Most SMs that an operation may take; NCCL's own choice without.
  std::optional<int> max_ctas;
  // Its kernels get SMs before those of computation that wait for some.
  bool high_priority = true;
};

// High priority goes to all groups: a kernel that is late because it waits behind the blocks of a
// matmul holds up every other rank of its group, and it needs few SMs itself. Megatron-LM offers
// the same by group for the same reason (--high-priority-stream-groups).
//
// A message is a copy, a receive that is posted ahead holds its SMs until the message comes, and
// both go on beside computation: they get few SMs. The device benchmark times messages in such a
// group, so the planner counts with what they reach.
inline NcclTuning NcclTuningOf(Traffic traffic) {
  constexpr int kMessageCtas = 4;
  if (traffic == Traffic::kMessages) return {.max_ctas = kMessageCtas};
  return {};
}

}  // namespace meshwright::worker

// Checks that schedule lists can run to their end and compute a whole step.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "planner/schedule/schedule.h"

namespace meshwright::planner {

// Returns OK if `lists`, one per pipeline rank of `layout`, are a schedule of `micro_batches`
// micro-batches:
// - every rank has, for each of its chunks and each micro-batch, one forward, followed by one
//   backward, which is whole or an input part followed by a weight part;
// - the lists run to their end when receives block and sends do not (no deadlock);
// - messages of one kind between two ranks are received in the order in which they were sent.
// Otherwise returns InvalidArgument, which names ranks and actions. For a deadlock, the message
// names the first eight stuck ranks, each with the action at which it is stuck and what that action
// waits for.
absl::Status CheckSchedule(const Layout& layout, int32_t micro_batches, const ScheduleLists& lists);

}  // namespace meshwright::planner

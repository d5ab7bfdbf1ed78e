// Checks that schedule lists can run to their end and compute a whole step.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "planner/schedule/schedule.h"

namespace meshwright::planner {

// Returns OK if `lists`, one per pipeline rank of `layout`, are a schedule of `micro_batches`
// micro-batches:
//  - every rank has, for each of its chunks and each micro-batch, one forward and one backward,
//    either whole or as an input part and a weight part, in that order;
//  - the lists run to their end when receives block and sends do not (no deadlock);
// - messages of one kind between two ranks are received in the order in which they were sent.
// Otherwise returns InvalidArgument, which names ranks and actions. For a deadlock, these are the
// first eight stuck ranks. Each rank is named with the action at which it is stuck and the cause of
// the wait.
absl::Status CheckSchedule(const Layout& layout, int32_t micro_batches, const ScheduleLists& lists);

}  // namespace meshwright::planner

// How much buffering between ranks a schedule needs.
#pragma once

#include <cstdint>

#include "planner/schedule/schedule.h"

namespace meshwright {

// The fewest sends of one kind (activations or gradients) that a rank must be able to leave open,
// that is sent and not received, for the lists to run to their end, and as fast as with any number,
// where a rank with that many open waits before its next action of the kind. 1: each send is
// received before the next forward, or backward, of its sender begins. A message is received when
// the action that needs it begins. Fast is with stages that are all alike, forwards and both parts
// of a backward taking the same time.
//
// Requires lists that CheckSchedule accepts, which lets any number of sends be open.
int32_t OpenSendsNeeded(const Layout& layout, int32_t micro_batches, const ScheduleLists& lists);

}  // namespace meshwright

// How much buffering between ranks a schedule needs.
#pragma once

#include <cstdint>

#include "planner/schedule/schedule.h"

namespace meshwright::planner {

// The fewest sends of a lane that a rank must be able to leave open for the lists to run to their
// end, and as fast as with any number, where messages go as planner/schedule/messages.h has it. 1:
// a rank waits for each send before the next one of its lane. Fast is with stages that are all
// alike, forwards and both parts of a backward taking the same time.
//
// Requires lists that CheckSchedule accepts, which lets any number of sends be open.
int32_t OpenSendsNeeded(const Layout& layout, int32_t micro_batches, const ScheduleLists& lists);

}  // namespace meshwright::planner

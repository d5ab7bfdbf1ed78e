// Computes how many sends a schedule needs to leave open at a time.
#pragma once

#include <cstdint>

#include "planner/schedule/schedule.h"

namespace meshwright::planner {

// Returns the fewest open sends per lane with which the lists run to their end, and as fast as with
// any number. 1 means that a rank waits for each send before the next one of its lane
// (planner/schedule/messages.h). Speed is that of equal stages whose forward and whose two parts of
// a backward take the same time.
//
// Requires lists that CheckSchedule accepts, which assumes any number of open sends.
int32_t OpenSendsNeeded(const Layout& layout, int32_t micro_batches, const ScheduleLists& lists);

}  // namespace meshwright::planner

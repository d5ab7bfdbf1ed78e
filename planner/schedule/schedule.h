// Pipeline schedules as data: a list for each pipeline rank of the actions that it computes, in
// order.
//
// The worker executes exactly these lists, the simulator times them, and tests compare the
// planner's figures for micro-batches in flight with them. Sends and receives follow from a list: a
// forward takes its input from the stage before and sends its output to the stage after, a backward
// the other way round (planner/schedule/placement.h says which rank holds a stage). Messages of one
// kind between two ranks are received in the order in which they are sent, so channels need no
// tags. planner/schedule/messages.h plans when they are sent and received.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "planner/layout/layout.h"
#include "planner/schedule/action.h"

namespace meshwright::planner {

// OK when the layout's schedule exists for its pp and vpp and for this many micro-batches;
// InvalidArgument naming pp, vpp or micro_batches otherwise. It accepts the same layouts as the
// rules on chunks and micro-batches (planner/rules), so that every layout that a search finds or a
// trial runs has a list.
absl::Status CheckScheduleExists(const Layout& layout, int32_t micro_batches);

// Return the list of `rank`, and the lists of all ranks, under the layout's schedule, in time
// linear in the number of actions. InvalidArgument as CheckScheduleExists, and for a rank outside
// [0, pp).
absl::StatusOr<std::vector<Action>> MakeSchedule(const Layout& layout, int32_t rank,
                                                 int32_t micro_batches);
absl::StatusOr<ScheduleLists> MakeSchedules(const Layout& layout, int32_t micro_batches);

// Returns the largest number of (micro-batch, chunk) pairs whose forward has begun and whose
// backward, weight part included, has not ended. With one chunk this is the number of micro-batches
// in flight.
int32_t PeakInFlight(const std::vector<Action>& actions);

// Returns the same weighted by memory: the input part of a split backward frees all of a chunk's
// activations but the share `kept_after_input`, which the weight part frees.
double PeakChunksHeld(const std::vector<Action>& actions, double kept_after_input);

}  // namespace meshwright::planner

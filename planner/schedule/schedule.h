// Defines pipeline schedules as data: for each pipeline rank, a list of the actions that it
// computes, in order.
//
// The worker executes exactly these lists, the simulator times them, and tests check the planner's
// numbers of micro-batches in flight against them. Sends and receives follow from a list. A forward
// takes its input from the stage before and sends its output to the stage after; a backward does
// the opposite. planner/schedule/placement.h says which rank holds a stage. Messages of one kind
// between two ranks are received in the order in which they are sent, so channels need no tags.
// planner/schedule/messages.h plans when messages are sent and received.
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

// Returns OK if the layout's schedule exists for its pp and vpp and for this many micro-batches.
// Otherwise returns InvalidArgument, which names pp, vpp or micro_batches. The rules on chunks and
// micro-batches (planner/rules) accept the same layouts, so every layout that a search finds or a
// trial runs has a schedule.
absl::Status CheckScheduleExists(const Layout& layout, int32_t micro_batches);

// Returns the list of `rank` under the layout's schedule, in time linear in the number of actions.
// Returns the errors of CheckScheduleExists(), and InvalidArgument for a rank outside [0, pp).
absl::StatusOr<std::vector<Action>> MakeSchedule(const Layout& layout, int32_t rank,
                                                 int32_t micro_batches);
// Returns the lists of all ranks, or an error of CheckScheduleExists().
absl::StatusOr<ScheduleLists> MakeSchedules(const Layout& layout, int32_t micro_batches);

// Returns the largest number of (micro-batch, chunk) pairs whose forward has begun and whose
// backward, weight part included, has not ended. With one chunk this is the number of micro-batches
// in flight.
int32_t PeakInFlight(const std::vector<Action>& actions);

// Returns PeakInFlight() weighted by memory: the input part of a split backward frees all of a
// chunk's activations except the share `kept_after_input`, which the weight part frees.
double PeakChunksHeld(const std::vector<Action>& actions, double kept_after_input);

}  // namespace meshwright::planner

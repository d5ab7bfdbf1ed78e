// Times schedule lists where both sides of a message wait for each other, as with NCCL. Runs the
// plans of planner/schedule/messages.h in virtual time.
//
// In planner/schedule/simulator.h a message arrives without its receiver being ready. The
// difference between the two is the cost of limited buffering between ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "planner/schedule/messages.h"
#include "planner/schedule/schedule.h"
#include "planner/schedule/stage_durations.h"

namespace meshwright::planner {

struct SynchronousTimes {
  std::vector<StageDurations> stages;  // pp * vpp, one micro-batch each
  double hop_s = 0.0;                  // of a message, from when both sides have issued it
};

// Returns the seconds until every rank has computed its last action and everything that was sent is
// received, or nullopt where the ranks block each other. Linear in the number of actions. Requires
// one list per rank, with chunks and micro-batches in range.
std::optional<double> TimeWithSynchronousSends(const Layout& layout, const ScheduleLists& lists,
                                               const SynchronousTimes& times, int64_t open_sends);

// Returns the fewest open sends per lane with which the lists run to their end, and as fast as with
// any number. 1 means that a rank waits for each send before the next one of its lane
// (planner/schedule/messages.h). Speed is that of equal stages whose forward and whose two parts of
// a backward take the same time.
//
// Requires lists that CheckSchedule accepts, which assumes any number of open sends.
int32_t OpenSendsNeeded(const Layout& layout, int32_t micro_batches, const ScheduleLists& lists);

}  // namespace meshwright::planner

// How long schedule lists take where both sides of a message wait for each other, as with NCCL: the
// plans of planner/schedule/messages.h in virtual time.
//
// planner/schedule/simulator.h lets a message arrive wherever its receiver is. Between the two lies
// what limited buffering between ranks costs.
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
  double hop_s = 0.0;                  // of a message, from when both sides are there
};

// When the last rank has computed its last action and all it sent was received; nothing where the
// ranks block each other. Linear in the number of actions. Requires one list for each rank, with
// chunks and micro-batches in range.
std::optional<double> TimeWithSynchronousSends(const Layout& layout, const ScheduleLists& lists,
                                               const SynchronousTimes& times, int64_t open_sends);

}  // namespace meshwright::planner

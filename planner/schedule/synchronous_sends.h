// Times schedule lists under the assumption that both sides of a message wait for each other, as
// with NCCL. Runs the plans of planner/schedule/messages.h in virtual time.
//
// In planner/schedule/simulator.h, a message arrives even if its receiver is not ready. The
// difference between the times of the two files is the cost of limited buffering between ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "planner/schedule/messages.h"
#include "planner/schedule/schedule.h"
#include "planner/schedule/stage_durations.h"

namespace meshwright::planner {

struct SynchronousTimes {
  std::vector<StageDurations> stages;  // times of one micro-batch on each of the pp * vpp stages
  double hop_s = 0.0;                  // seconds of a message once both sides have issued it
};

// Returns the seconds until every rank has computed its last action and every message is received,
// or nullopt if the ranks block each other. `open_sends` is the maximum number of open messages per
// lane (planner/schedule/messages.h). Takes time linear in the number of actions.
// REQUIRES: one list per rank, with chunks and micro-batches in range, and open_sends >= 1; the
// schedule does not divide the vocabulary, because the plans lack the collectives of the head's
// passes.
std::optional<double> TimeWithSynchronousSends(const Layout& layout, const ScheduleLists& lists,
                                               const SynchronousTimes& times, int64_t open_sends);

// Returns the minimum number of open sends per lane with which the lists finish as early as with
// unlimited open sends. 1 means that a rank waits for each send before the next send on the same
// lane (planner/schedule/messages.h). Speeds are compared for equal stages, on which a forward, an
// input gradient and a weight gradient take the same time.
// REQUIRES: CheckSchedule(), which does not limit open sends, accepts `lists`.
int32_t OpenSendsNeeded(const Layout& layout, int32_t micro_batches, const ScheduleLists& lists);

}  // namespace meshwright::planner

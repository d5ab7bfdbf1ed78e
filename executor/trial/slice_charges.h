// Adds modelled communication time to the record of a rank that ran alone.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "executor/trial/phase.h"
#include "executor/trial/step_record.h"
#include "planner/cost/step_shape.h"

namespace meshwright::trial {

// Returns the ranks of a worker's group; nothing for groups not charged by operation: the
// pipeline's, which the simulator times, and the group of all ranks, which no step uses.
std::optional<planner::RankGroup> ChargedGroup(const planner::StepShape& step,
                                               std::string_view group);

// Returns the cost model's seconds for one operation; 0 where its group is not charged, and for the
// receiving side of a message.
double ChargeOf(const planner::StepShape& step, const CommunicationSpan& span);

// Seconds added by waiting for communication, by phase.
struct ReplayedStep {
  std::vector<PhaseSeconds> actions;  // in the order of the record
  PhaseSeconds behind;                // outside of actions

  friend bool operator==(const ReplayedStep&, const ReplayedStep&) = default;
};

// Replays `record` as if each operation took `charge` seconds from its issue, or from the end of
// its group's previous operation if later. Time left at the rank's wait is added and delays
// everything after it; computation in between hides the rest. Issuing an operation takes no time:
// the work of a lone rank in these calls is not what a communicating device would do.
ReplayedStep Replay(const StepRecord& record,
                    const std::function<double(const CommunicationSpan&)>& charge);

}  // namespace meshwright::trial

// Puts modelled communication into the record of a rank that ran alone.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "executor/trial/phase.h"
#include "executor/trial/step_record.h"
#include "planner/cost/step_shape.h"

namespace meshwright::trial {

// Where a group of the worker lies; nothing for groups that are not charged by operation: the
// pipeline's, which the simulator times, and that of all ranks, which no step uses.
std::optional<planner::RankGroup> ChargedGroup(const planner::StepShape& step,
                                               std::string_view group);

// Seconds of the cost model for one operation; 0 where its group is not charged, and for the
// receiving side of a message.
double ChargeOf(const planner::StepShape& step, const CommunicationSpan& span);

// By phase (tensor, context or data parallel), what waiting for communication adds.
struct ReplayedStep {
  std::vector<PhaseSeconds> actions;  // in the record's order
  PhaseSeconds behind;                // outside of actions

  friend bool operator==(const ReplayedStep&, const ReplayedStep&) = default;
};

// Goes through `record` as if each operation took `charge` from its issue, or from the end of the
// one before in its group: where the rank waits for it, what is not over by then is added and
// delays everything behind. What was computed in between hides it. Calls that issue operations take
// no time: what a rank that is alone does there, a device that communicates would not do.
ReplayedStep Replay(const StepRecord& record,
                    const std::function<double(const CommunicationSpan&)>& charge);

}  // namespace meshwright::trial

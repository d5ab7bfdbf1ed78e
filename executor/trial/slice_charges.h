// Replay() adds modelled communication time to the record of a rank that ran alone.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "executor/trial/phase.h"
#include "executor/trial/step_record.h"
#include "planner/cost/step_shape.h"

namespace meshwright::trial {

// Returns the ranks of a worker's `group`. Returns nullopt for groups whose operations are not
// charged: the pipeline's groups, which the simulator times, and the group of all ranks, which no
// step uses.
std::optional<planner::RankGroup> ChargedGroup(const planner::StepShape& step,
                                               std::string_view group);

// Returns the cost model's seconds for one operation. Returns 0 if the operation's group is not
// charged, or if the operation is the receiving side of a message.
double ChargeOf(const planner::StepShape& step, const CommunicationSpan& span);

// Seconds that waiting for communication adds to a step, by phase.
struct ReplayedStep {
  std::vector<PhaseSeconds> actions;  // in the order of the record
  PhaseSeconds behind;                // outside any action

  friend bool operator==(const ReplayedStep&, const ReplayedStep&) = default;
};

// Replays `record` as if each operation took `charge` seconds. An operation begins when it is
// issued, or when its group's previous operation ends if that is later. Computation between this
// begin and the rank's wait hides part of the operation. The rest of the operation's time is added
// to the wait and delays everything that follows. The calls that issue operations count as taking
// no time, because they do other work in a rank that runs alone than in a communicating rank.
ReplayedStep Replay(const StepRecord& record,
                    const std::function<double(const CommunicationSpan&)>& charge);

}  // namespace meshwright::trial

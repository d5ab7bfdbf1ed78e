// Conclude() derives a trial's result from the records of its ranks. All functions here are pure.
#pragma once

#include <optional>
#include <vector>

#include "executor/trial/rank_record.h"
#include "executor/trial/trial.h"

namespace meshwright::trial {

// Returns the record of the rank whose failure explains the failures of other ranks: the failed
// rank with the lowest FailureKind and, among ranks of that kind, with the lowest number. Returns
// null if no rank failed.
const RankRecord* Cause(const std::vector<RankRecord>& records);

// Returns the result of a trial that ran to its end or until a rank failed.
TrialResult Conclude(const TrialPlan& plan, const std::vector<RankRecord>& records);

// Returns the result of a trial that was ended because `silent_rank` sent nothing for the plan's
// timeout.
TrialResult ConcludeTimeout(const TrialPlan& plan, const std::vector<RankRecord>& records,
                            int32_t silent_rank);

TrialResult ConcludeCancelled(const TrialPlan& plan, const std::vector<RankRecord>& records);

// Returns the mean profile of one rank's timed steps. REQUIRES: the rank has finished a step.
StepProfile MeanOfTimedSteps(const RankRecord& record);

// Returns the rank that has begun the fewest steps among the ranks that are not done. This rank
// most likely delays the others.
int32_t FurthestBehind(const std::vector<RankRecord>& records);

// The last step that all ranks have finished, with the slowest rank's time and the loss.
struct FinishedStep {
  int32_t steps = 0;
  double step_s = 0.0;
  std::optional<double> loss = std::nullopt;
};
FinishedStep LastFinishedStep(const std::vector<RankRecord>& records);

}  // namespace meshwright::trial

// From what is known of the ranks to the trial's result. Pure functions.
#pragma once

#include <optional>
#include <vector>

#include "executor/trial/rank_record.h"
#include "executor/trial/trial.h"

namespace meshwright::trial {

// The failure that explains the others: by kind, then by rank. Null without any.
const RankRecord* Cause(const std::vector<RankRecord>& records);

// The result of a trial that ran to its end or into a failure of some rank.
TrialResult Conclude(const TrialPlan& plan, const std::vector<RankRecord>& records);

// The result of a trial that was ended because nothing was heard of `silent_rank` for the plan's
// timeout.
TrialResult ConcludeTimeout(const TrialPlan& plan, const std::vector<RankRecord>& records,
                            int32_t silent_rank);

TrialResult ConcludeCancelled(const TrialPlan& plan, const std::vector<RankRecord>& records);

// Of one rank alone. Requires a step.
StepProfile MeanOfTimedSteps(const RankRecord& record);

// Which of the silent ranks holds the others up: the one that is furthest behind.
int32_t FurthestBehind(const std::vector<RankRecord>& records);

// Steps that all ranks have finished, the slowest rank's time of the last one and its loss.
struct FinishedStep {
  int32_t steps = 0;
  double step_s = 0.0;
  std::optional<double> loss = std::nullopt;
};
FinishedStep LastFinishedStep(const std::vector<RankRecord>& records);

}  // namespace meshwright::trial

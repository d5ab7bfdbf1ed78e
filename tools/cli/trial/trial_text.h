// PrintTrial() prints a trial's result as text.
#pragma once

#include <ostream>
#include <string_view>

#include "executor/trial/trial.h"
#include "planner/estimate/estimate.h"

namespace meshwright::cli {

// Prints the result beside the prediction. `cluster` is the name of the cluster for which the trial
// was planned; an MFU is a share of that cluster's peak.
void PrintTrial(const planner::Layout& layout, const planner::Estimate& predicted,
                std::string_view cluster, const trial::TrialResult& result, std::ostream& out);

}  // namespace meshwright::cli

// Prints a trial's result for people.
#pragma once

#include <ostream>
#include <string_view>

#include "executor/trial/trial.h"
#include "planner/estimate/estimate.h"

namespace meshwright::cli {

// `cluster`: the cluster that the trial was planned for, whose peak MFU is a share of.
void PrintTrial(const planner::Layout& layout, const planner::Estimate& predicted,
                std::string_view cluster, const trial::TrialResult& result, std::ostream& out);

}  // namespace meshwright::cli

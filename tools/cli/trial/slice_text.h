// Prints a slice trial's result for people.
#pragma once

#include <ostream>
#include <string_view>

#include "executor/trial/trial.h"
#include "planner/estimate/estimate.h"

namespace meshwright::cli {

// Prints for every figure whether it was measured, modelled or simulated, and which peak MFU is a
// share of: that of `cluster`. Requires `result.slice`.
void PrintSlice(const planner::Layout& layout, const planner::Estimate& predicted,
                std::string_view cluster, const trial::TrialResult& result, std::ostream& out);

}  // namespace meshwright::cli

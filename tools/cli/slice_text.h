// A slice trial's result for people.
#pragma once

#include <ostream>

#include "executor/trial/trial.h"
#include "planner/estimate/estimate.h"

namespace meshwright {

// Says of every figure whether it was measured, modelled or simulated. Requires `result.slice`.
void PrintSlice(const Layout& layout, const Estimate& predicted, const TrialResult& result,
                std::ostream& out);

}  // namespace meshwright

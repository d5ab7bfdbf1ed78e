// A slice trial's result for people.
#pragma once

#include <ostream>
#include <string_view>

#include "executor/trial/trial.h"
#include "planner/estimate/estimate.h"

namespace meshwright {

// Says of every figure whether it was measured, modelled or simulated, and which peak MFU is a
// share of: that of `cluster`. Requires `result.slice`.
void PrintSlice(const Layout& layout, const Estimate& predicted, std::string_view cluster,
                const TrialResult& result, std::ostream& out);

}  // namespace meshwright

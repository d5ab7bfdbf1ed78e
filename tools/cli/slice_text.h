// A slice trial's result as text for people.
#pragma once

#include <ostream>

#include "executor/trial/slice_trial.h"
#include "planner/estimate/estimate.h"

namespace meshwright {

void PrintSlice(const Layout& layout, const Estimate& predicted, const SliceResult& result,
                std::ostream& out);

}  // namespace meshwright

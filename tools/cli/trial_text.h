// A trial's result for people.
#pragma once

#include <ostream>

#include "executor/trial/trial.h"
#include "planner/estimate/estimate.h"

namespace meshwright {

void PrintTrial(const Layout& layout, const Estimate& predicted, const TrialResult& result,
                std::ostream& out);

}  // namespace meshwright

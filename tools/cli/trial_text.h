// A trial's result for people.
#pragma once

#include <ostream>
#include <string_view>

#include "executor/trial/trial.h"
#include "planner/estimate/estimate.h"

namespace meshwright {

// `cluster`: what the trial was planned for, whose peak MFU is a share of.
void PrintTrial(const Layout& layout, const Estimate& predicted, std::string_view cluster,
                const TrialResult& result, std::ostream& out);

}  // namespace meshwright

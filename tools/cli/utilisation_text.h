// A step's MFU for people, measured and predicted side by side.
#pragma once

#include "executor/trial/trial.h"
#include "planner/estimate/estimate.h"
#include "tools/cli/table.h"

namespace meshwright {

// Adds rows of three cells to `table`: what is told, measured, predicted. Each row names the peak
// of a rank that it is against: the one that the cluster is said to have, where the result tells
// it, and the one that was measured, which no prediction is against.
void AddUtilisationRows(const TrialResult& result, const Estimate& predicted, Table& table);

}  // namespace meshwright

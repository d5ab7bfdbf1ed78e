// A step's MFU for people, measured and predicted side by side.
#pragma once

#include "executor/trial/trial.h"
#include "planner/estimate/estimate.h"
#include "tools/cli/text.h"

namespace meshwright {

// Adds rows of three cells to `table`: what is told, measured, predicted. Both are against the same
// peak of a rank, which the row names: the one that the cluster is said to have, where it is known,
// and the one that was measured.
void AddUtilisationRows(const TrialResult& result, const Estimate& predicted, Table& table);

}  // namespace meshwright

// A sweep's trials as its drawings take them.
#pragma once

#include <ostream>
#include <vector>

#include "planner/drawing/sweep_drawing.h"
#include "tools/cli/sweep/sweep_text.h"

namespace meshwright::cli {

// Those that have ended, in the order of their ends; those that had their results before come
// first.
std::vector<planner::DrawnTrial> DrawnTrials(const ShownSweep& shown);

// How the sweep converged, a line a trial; nothing where fewer than two were measured.
void PrintDrawing(const ShownSweep& shown, std::ostream& out);

}  // namespace meshwright::cli

// Converts a sweep's trials for its drawings.
#pragma once

#include <ostream>
#include <vector>

#include "planner/drawing/sweep_drawing.h"
#include "tools/cli/sweep/sweep_text.h"

namespace meshwright::cli {

// Returns the trials that have ended, in the order of their ends, after those with reused results.
std::vector<planner::DrawnTrial> DrawnTrials(const ShownSweep& shown);

// Prints how the sweep converged, one line per trial; nothing where fewer than two were measured.
void PrintDrawing(const ShownSweep& shown, std::ostream& out);

}  // namespace meshwright::cli

// Measures the device's peak as this run can reach it, the basis of MFU.
#pragma once

#include "executor/worker/state/rank_context.h"

namespace meshwright::worker {

// Returns the FLOP/s of a large square matrix product in the training's dtype on this rank, while
// all ranks of the run do the same: ranks that share cores share their peak. Its memory is not
// counted.
double MeasurePeakFlops(RankContext& context);

}  // namespace meshwright::worker

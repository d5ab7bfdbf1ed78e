// Measures the peak FLOP/s of the device as this run can reach it, which is the basis of MFU.
#pragma once

#include "executor/worker/state/rank_context.h"

namespace meshwright::worker {

// Returns the FLOP/s of a large square matrix product in the training's dtype on this rank, while
// all ranks of the run do the same: ranks that share cores share their peak. The memory of the
// product is not counted as the rank's.
double MeasurePeakFlops(RankContext& context);

}  // namespace meshwright::worker

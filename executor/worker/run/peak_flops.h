// MeasurePeakFlops() measures the peak FLOP/s that the device reaches in this run, on which MFU is
// based.
#pragma once

#include "executor/worker/state/rank_context.h"

namespace meshwright::worker {

// Returns the FLOP/s of a large square matrix product in the training's dtype on this rank, while
// all ranks of the run do the same, since ranks that share cores also share their peak. The
// product's memory does not count as the rank's.
double MeasurePeakFlops(RankContext& context);

}  // namespace meshwright::worker

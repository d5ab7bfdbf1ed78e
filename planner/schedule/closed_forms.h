// What a pipeline schedule costs, in closed form: idle time and micro-batches in flight.
//
// Sources: GPipe and 1F1B (PipeDream-flush); interleaved 1F1B (arXiv 2104.04473).
#pragma once

#include <cstdint>

#include "planner/layout/layout.h"

namespace meshwright {

// Chunk-sized units of activations held at once on pipeline rank `rank`: micro-batches in flight
// times vpp. A chunk is layers / (pp * vpp) layers of one micro-batch.
int64_t PeakChunksInFlight(const Layout& layout, int32_t rank, int64_t micro_batches);

// Idle time of a step in units of one micro-batch's forward and backward on one rank: (p - 1) / v.
double BubbleMicroBatches(const Layout& layout);

// Exposed point-to-point hops of a step; a hop is one send of a micro-batch's activations to the
// next stage.
double ExposedHops(const Layout& layout, int64_t micro_batches);

}  // namespace meshwright

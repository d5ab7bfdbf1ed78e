// StatedStepFlops() counts the FLOPs of a step as a row's source counts them for its column
// tflops_per_gpu. The time of a row without a stated time follows from this count.
#pragma once

#include "planner/measurement/measurement.h"
#include "planner/measurement/planned_row.h"

namespace meshwright::planner {

// Returns the FLOPs of a step over all devices. Megatron-LM's count
// (planner/block/megatron_flops.h) applies, with whole attention scores unless the notes say
// "causal". The forward of recomputed layers counts again if the notes say that it does, as in
// Narayanan et al. (arXiv 2104.04473, equation 3).
double StatedStepFlops(const Measurement& row, const PlannedRow& planned);

}  // namespace meshwright::planner

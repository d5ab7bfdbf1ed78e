// How many seconds of a step its optimizer takes.
#pragma once

#include <cstdint>

#include "planner/cost/offload_time.h"
#include "planner/cost/step_shape.h"

namespace meshwright::planner {

// Returns the seconds of the update on the pipeline rank where it takes longest, and of the host's
// work for a step, the profile's step_overhead_s. The update reads and writes
// UpdateRule::traffic_bytes for each parameter that a rank owns, in the host's memory where the
// layout moves the optimizer there.
//
// An optimizer that orthogonalises shares out the whole matrices among the ranks that hold parts of
// them, those of tensor parallelism and of ZeRO: an all-to-all brings a matrix's momentum to its
// owner in the weights' format, the owner iterates, and a second one takes the result back (as Liu
// et al., arXiv 2502.16982, section 2.3, but that each matrix has one owner). The longest share is
// the mean, or the largest matrix where there are fewer matrices than owners: of a rank's matrices
// together, under Meshwright's own worker of each unit's, which it updates one after the other. An
// iteration on a matrix [m, n], where m is the smaller side, takes three products: [m, n] [n, m],
// [m, m] [m, m] and [m, m] [m, n].
double OptimizerTime(const StepShape& step);

// Returns the update of the rank where it takes longest, and the copies for it, where the layout
// moves the optimizer to the host; nothing where it does not.
HostUpdate LongestHostUpdate(const StepShape& step);

}  // namespace meshwright::planner

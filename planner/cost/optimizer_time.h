// Estimates the seconds of a step's optimizer.
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
// An optimizer that orthogonalises distributes whole matrices among the ranks that hold parts of
// them, those of tensor parallelism and of ZeRO: an all-to-all brings a matrix's momentum to its
// owner in the weights' format, the owner iterates, and a second one takes the result back (as Liu
// et al., arXiv 2502.16982, section 2.3, except that each matrix has one owner). The longest share
// is the mean, or the largest matrix where there are fewer matrices than owners: of all of a rank's
// matrices together or, under Meshwright's own worker, of each unit's, since it updates units one
// after another. An iteration on a matrix [m, n], where m is the smaller side, takes three
// products: [m, n] [n, m], [m, m] [m, m] and [m, m] [m, n].
double OptimizerTime(const StepShape& step);

// Returns the update of the rank where it takes longest, and its copies, where the layout moves the
// optimizer to the host; zeros where it does not.
HostUpdate LongestHostUpdate(const StepShape& step);

}  // namespace meshwright::planner

// Estimates the seconds of a step's optimizer.
#pragma once

#include <cstdint>

#include "planner/cost/offload_time.h"
#include "planner/cost/step_shape.h"

namespace meshwright::planner {

// Returns the seconds of the update on the pipeline rank where it takes longest, plus the host's
// work for a step, which is the profile's step_overhead_s. For each parameter that a rank owns, the
// update reads and writes UpdateRule::traffic_bytes of memory: host memory if the layout moves the
// optimizer to the host, otherwise device memory.
//
// An optimizer that orthogonalises distributes whole matrices among the ranks that hold parts of
// them under tensor parallelism and ZeRO. An all-to-all sends a matrix's momentum to its owner in
// the weights' format. The owner iterates, and a second all-to-all returns the result. Liu et al.
// do the same (arXiv 2502.16982, section 2.3), except that each matrix has one owner here. An
// iteration on a matrix [m, n], where m is the smaller side, takes three products: [m, n] [n, m],
// [m, m] [m, m] and [m, m] [m, n].
//
// The owner with the most work sets the pace. Its work is taken to be the mean over all owners, or
// the work of the largest matrix if this takes longer. Frameworks distribute all matrices of a rank
// together. Meshwright's own worker updates one unit after another, so it distributes each unit's
// matrices separately.
double OptimizerTime(const StepShape& step);

// Returns the update on the host, with its copies, for the rank where it takes longest. All figures
// are 0 if the layout does not move the optimizer to the host.
HostUpdate LongestHostUpdate(const StepShape& step);

}  // namespace meshwright::planner

// Names the attention kernel that the worker is to use in a layout.
#pragma once

#include "executor/trial/trial.h"
#include "planner/profile/framework_profile.h"
#include "planner/search/search.h"

namespace meshwright::trial {

// Returns `layout` for the worker, with the attention kernel of `profile` named where the layout
// leaves the choice to the profile, the profile's engine is the worker, and its kernel differs from
// the worker's default: the worker then runs what was estimated. Returns `layout` unchanged on a
// CPU, where the worker has one kernel, and for another framework's profile, whose kernels it
// lacks.
planner::Layout WithNamedKernels(const planner::Layout& layout,
                                 const planner::FrameworkProfile& profile,
                                 planner::DeviceKind device);

// Returns the worker as the runner of layouts planned with `profile`.
planner::Runner WorkerAsRunner(const planner::FrameworkProfile& profile,
                               planner::DeviceKind device);

}  // namespace meshwright::trial

// WithNamedKernels() writes into a layout which attention kernel the worker uses.
#pragma once

#include "executor/trial/trial.h"
#include "planner/profile/framework_profile.h"
#include "planner/search/search.h"

namespace meshwright::trial {

// Returns `layout` with the attention kernel of `profile` named, so that the worker runs the kernel
// that was estimated. Returns `layout` unchanged if it names a kernel already or if the profile's
// kernel is the worker's default. Also returns it unchanged on a CPU, for which the worker has one
// kernel, and for a profile of another framework, whose kernels the worker lacks.
planner::Layout WithNamedKernels(const planner::Layout& layout,
                                 const planner::FrameworkProfile& profile,
                                 planner::DeviceKind device);

// Returns the worker's properties as a runner of layouts that were planned with `profile`.
planner::Runner WorkerAsRunner(const planner::FrameworkProfile& profile,
                               planner::DeviceKind device);

}  // namespace meshwright::trial

// Layouts as plans for the worker name them.
#pragma once

#include "executor/trial/trial.h"
#include "planner/profile/framework_profile.h"
#include "planner/search/search.h"

namespace meshwright::trial {

// `layout`, which is planned for with `profile`, with the attention kernel named where it leaves it
// to the profile and that is the worker's own and has chosen another than the worker's default:
// what the worker runs is what the estimate is about. On a CPU the worker has one kernel, and it
// has none of another framework's: there `layout` stays as it is.
planner::Layout WithNamedKernels(const planner::Layout& layout,
                                 const planner::FrameworkProfile& profile,
                                 planner::DeviceKind device);

// The worker as what is to run layouts that are planned for with `profile`.
planner::Runner WorkerAsRunner(const planner::FrameworkProfile& profile,
                               planner::DeviceKind device);

}  // namespace meshwright::trial

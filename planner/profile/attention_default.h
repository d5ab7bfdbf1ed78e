// The attention kernel of layouts that name none.
#pragma once

#include "planner/profile/framework_profile.h"
#include "planner/spec/cluster_spec.h"
#include "planner/spec/model_spec.h"
#include "planner/spec/training_spec.h"

namespace meshwright::planner {

// The profile's, unless the cluster's device says of Meshwright's own worker that another one is
// faster with heads of the size that all of the model's layers have. That is about bf16 on devices:
// elsewhere the worker has one kernel.
AttentionKernel DefaultAttention(const FrameworkProfile& profile, const ClusterSpec& cluster,
                                 const ModelSpec& model, Precision precision);

}  // namespace meshwright::planner

// Chooses the attention kernel of layouts that name none.
#pragma once

#include "planner/profile/framework_profile.h"
#include "planner/spec/cluster_spec.h"
#include "planner/spec/model_spec.h"
#include "planner/spec/training_spec.h"

namespace meshwright::planner {

// Returns the profile's kernel. For Meshwright's own worker in bf16 on a GPU it is instead the one
// that the cluster's device names as the fastest for the model's head size, where all layers have
// the same size and other kernels take the model. Elsewhere the worker has a single kernel.
AttentionKernel DefaultAttention(const FrameworkProfile& profile, const ClusterSpec& cluster,
                                 const ModelSpec& model, Precision precision);

}  // namespace meshwright::planner

// Chooses the attention kernel of layouts that name none.
#pragma once

#include "planner/profile/framework_profile.h"
#include "planner/spec/cluster_spec.h"
#include "planner/spec/model_spec.h"
#include "planner/spec/training_spec.h"

namespace meshwright::planner {

// Returns the attention kernel of a layout that names none. The result is the profile's kernel,
// unless the profile picks the fastest kernel and activations are bf16 on a GPU. The result is then
// the fastest kernel that the cluster's device names for the model's head size, if all layers have
// this size and no part of the model needs flash2.
AttentionKernel DefaultAttention(const FrameworkProfile& profile, const ClusterSpec& cluster,
                                 const ModelSpec& model, Precision precision);

}  // namespace meshwright::planner

// Chooses the attention kernel of layouts that name none or PyTorch's choice.
#pragma once

#include "planner/profile/framework_profile.h"
#include "planner/spec/cluster_spec.h"
#include "planner/spec/model_spec.h"
#include "planner/spec/training_spec.h"

namespace meshwright::planner {

// Returns the kernel that PyTorch's scaled_dot_product_attention runs. With activations in 16 bits
// on a GPU, it is the fastest kernel that the cluster's device names for the model's head size, if
// all layers have this size and no part of the model needs flash2 in the profile. Otherwise it is
// FlashAttention-2.
AttentionKernel SdpaAttention(const FrameworkProfile& profile, const ClusterSpec& cluster,
                              const ModelSpec& model, Precision precision);

// Returns the attention kernel of a layout that names none: that of SdpaAttention() if the profile
// picks the fastest kernel and the device names one, otherwise the profile's kernel. On a device
// without the profile's kernel it is FlashAttention-2.
AttentionKernel DefaultAttention(const FrameworkProfile& profile, const ClusterSpec& cluster,
                                 const ModelSpec& model, Precision precision);

}  // namespace meshwright::planner

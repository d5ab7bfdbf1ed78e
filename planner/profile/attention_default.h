// Chooses the attention kernel of layouts that name no kernel, or PyTorch's choice (attn=sdpa).
#pragma once

#include "planner/profile/framework_profile.h"
#include "planner/spec/cluster_spec.h"
#include "planner/spec/model_spec.h"
#include "planner/spec/training_spec.h"

namespace meshwright::planner {

// Returns the kernel that PyTorch's scaled_dot_product_attention runs. It is the fastest kernel
// that the cluster's device names for the model's head size if (1) the device is a GPU, (2)
// activations have 16 bits, (3) all layers have this head size, and (4) no part of the model needs
// flash2 in the profile. Otherwise it is FlashAttention-2.
AttentionKernel SdpaAttention(const FrameworkProfile& profile, const ClusterSpec& cluster,
                              const ModelSpec& model, Precision precision);

// Returns the attention kernel of a layout that names none. If the profile picks the fastest
// kernel, it is the fastest kernel of SdpaAttention(), under the same conditions; otherwise it is
// the profile's kernel. On a device without that kernel it is FlashAttention-2.
AttentionKernel DefaultAttention(const FrameworkProfile& profile, const ClusterSpec& cluster,
                                 const ModelSpec& model, Precision precision);

}  // namespace meshwright::planner

// KeptTensorName() returns the name of a saved tensor for failures of tests.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "planner/block/operator.h"

namespace meshwright::planner {

inline constexpr std::array<std::string_view, 62> kKeptTensorNames = {
    "token_ids",
    "embedding_norm_input",
    "embedding_norm_rstd",
    "patches",
    "tower_norm_input",
    "tower_projection_input",
    "attention_residual",
    "attention_norm_output",
    "attention_norm_rstd",
    "attention_norm_input",
    "attention_post_norm_rstd",
    "latent",
    "latent_rstd",
    "latent_norm_output",
    "head_norm_input",
    "query",
    "key",
    "value",
    "turned_key",
    "attention_output",
    "output_latent",
    "log_sum_exp",
    "attention_gate",
    "index",
    "mixer_input",
    "mixer_states",
    "mixer_output",
    "mixer_product",
    "ffn_residual",
    "ffn_norm_output",
    "ffn_norm_rstd",
    "ffn_norm_input",
    "ffn_post_norm_rstd",
    "router_scores",
    "routing",
    "expert_latent",
    "expert_input",
    "expert_gate",
    "expert_up",
    "expert_silu_gate",
    "expert_product",
    "expert_output",
    "gate",
    "up",
    "silu_gate",
    "ffn_product",
    "norm_intermediates",
    "extras",
    "adapter",
    "layer_input",
    "shared_input",
    "streams",
    "laurel",
    "scores",
    "final_residual",
    "final_norm_output",
    "final_norm_rstd",
    "logits",
    "loss_statistics",
    "targets",
    "mtp_residual",
    "mtp_norm_output",
};
static_assert(kKeptTensorNames.size() == static_cast<size_t>(KeptTensor::kMtpNormOutput) + 1);

inline std::string_view KeptTensorName(KeptTensor tensor) {
  return kKeptTensorNames[static_cast<size_t>(tensor)];
}

}  // namespace meshwright::planner

#include "planner/block/operator.h"

namespace meshwright::planner {
namespace {

constexpr std::array<std::string_view, 34> kOperatorNames = {
    "embedding",
    "embedding_leave",
    "embedding_norm",
    "attention_norm",
    "latent_projection",
    "latent_norm",
    "attention_enter",
    "qkv_projection",
    "query_projection",
    "head_norm",
    "rope",
    "attention",
    "output_projection",
    "attention_leave",
    "attention_residual",
    "ffn_norm",
    "router",
    "expert_dispatch",
    "expert_gate_up_projection",
    "expert_activation",
    "expert_down_projection",
    "expert_combine",
    "ffn_enter",
    "gate_up_projection",
    "ffn_activation",
    "down_projection",
    "ffn_leave",
    "ffn_residual",
    "final_norm",
    "head_enter",
    "head_projection",
    "cross_entropy",
    "mtp_norm",
    "mtp_projection",
};
static_assert(kOperatorNames.size() == static_cast<size_t>(OperatorName::kMtpProjection) + 1);

constexpr std::array<std::string_view, 44> kTensorNames = {
    "token_ids",
    "embedding_norm_input",
    "embedding_norm_rstd",
    "attention_residual",
    "attention_norm_output",
    "attention_norm_rstd",
    "attention_norm_input",
    "latent",
    "latent_rstd",
    "latent_norm_output",
    "head_norm_input",
    "query",
    "key",
    "value",
    "turned_key",
    "attention_output",
    "log_sum_exp",
    "ffn_residual",
    "ffn_norm_output",
    "ffn_norm_rstd",
    "ffn_norm_input",
    "router_scores",
    "routing",
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
static_assert(kTensorNames.size() == static_cast<size_t>(KeptTensor::kMtpNormOutput) + 1);

}  // namespace

std::string_view NameOf(OperatorName name) { return kOperatorNames[static_cast<size_t>(name)]; }

std::string_view KeptTensorName(KeptTensor tensor) {
  return kTensorNames[static_cast<size_t>(tensor)];
}

}  // namespace meshwright::planner

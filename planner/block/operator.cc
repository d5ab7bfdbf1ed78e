#include "planner/block/operator.h"

namespace meshwright::planner {
namespace {

constexpr std::array<std::string_view, 23> kOperatorNames = {
    "embedding",       "embedding_leave",   "embedding_norm",     "attention_norm",
    "attention_enter", "qkv_projection",    "head_norm",          "rope",
    "attention",       "output_projection", "attention_leave",    "attention_residual",
    "ffn_norm",        "ffn_enter",         "gate_up_projection", "ffn_activation",
    "down_projection", "ffn_leave",         "ffn_residual",       "final_norm",
    "head_enter",      "head_projection",   "cross_entropy",
};
static_assert(kOperatorNames.size() == static_cast<size_t>(OperatorName::kCrossEntropy) + 1);

constexpr std::array<std::string_view, 30> kTensorNames = {
    "token_ids",
    "embedding_norm_input",
    "embedding_norm_rstd",
    "attention_residual",
    "attention_norm_output",
    "attention_norm_rstd",
    "attention_norm_input",
    "head_norm_input",
    "query",
    "key",
    "value",
    "attention_output",
    "log_sum_exp",
    "ffn_residual",
    "ffn_norm_output",
    "ffn_norm_rstd",
    "ffn_norm_input",
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
};
static_assert(kTensorNames.size() == static_cast<size_t>(KeptTensor::kTargets) + 1);

}  // namespace

std::string_view NameOf(OperatorName name) { return kOperatorNames[static_cast<size_t>(name)]; }

std::string_view KeptTensorName(KeptTensor tensor) {
  return kTensorNames[static_cast<size_t>(tensor)];
}

}  // namespace meshwright::planner

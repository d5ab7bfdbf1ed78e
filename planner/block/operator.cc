#include "planner/block/operator.h"

namespace meshwright::planner {
namespace {

constexpr std::array<std::string_view, 36> kOperatorNames = {
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
    "attention_post_norm",
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
    "ffn_post_norm",
    "ffn_residual",
    "final_norm",
    "head_enter",
    "head_projection",
    "cross_entropy",
    "mtp_norm",
    "mtp_projection",
};
static_assert(kOperatorNames.size() == static_cast<size_t>(OperatorName::kMtpProjection) + 1);

}  // namespace

std::string_view NameOf(OperatorName name) { return kOperatorNames[static_cast<size_t>(name)]; }

}  // namespace meshwright::planner

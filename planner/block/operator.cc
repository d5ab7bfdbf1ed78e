#include "planner/block/operator.h"

namespace meshwright::planner {
namespace {

constexpr std::array<std::string_view, 57> kOperatorNames = {
    "embedding",
    "embedding_leave",
    "embedding_norm",
    "patch_embedding",
    "tower_norm",
    "tower_projection",
    "attention_streams",
    "attention_norm",
    "latent_projection",
    "latent_norm",
    "index_query",
    "index_key",
    "index_scores",
    "attention_enter",
    "qkv_projection",
    "query_projection",
    "head_norm",
    "rope",
    "attention",
    "attention_gate_projection",
    "attention_gate",
    "output_groups_projection",
    "output_projection",
    "mixer_projection",
    "mixer_convolution",
    "mixer_states_projection",
    "mixer_gate_projection",
    "mixer_core",
    "mixer_norm",
    "mixer_output_projection",
    "attention_leave",
    "attention_post_norm",
    "attention_residual",
    "ffn_streams",
    "ffn_norm",
    "router",
    "expert_latent_projection",
    "expert_dispatch",
    "expert_gate_up_projection",
    "expert_activation",
    "expert_down_projection",
    "expert_combine",
    "expert_latent_output",
    "ffn_enter",
    "gate_up_projection",
    "ffn_activation",
    "down_projection",
    "ffn_leave",
    "ffn_post_norm",
    "ffn_residual",
    "layer_input",
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

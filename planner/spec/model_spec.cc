#include "planner/spec/model_spec.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"

namespace meshwright::planner {
namespace {

// Far above every model trained so far; they keep products of sizes within 64 bits.
constexpr int64_t kMaxWidth = int64_t{1} << 21;
constexpr int64_t kMaxHeads = 1 << 14;
constexpr int64_t kMaxLayers = 1 << 14;
constexpr int64_t kMaxMtpLayers = 16;
constexpr int64_t kMaxStreams = 64;
constexpr int64_t kMaxConvTokens = 1 << 10;
constexpr int64_t kMaxExperts = 1 << 14;
constexpr int64_t kMaxPositions = int64_t{1} << 24;
constexpr int64_t kMaxVocab = int64_t{1} << 24;

absl::Status Check(const SparseIndex& index) {
  if (!index.exists()) return absl::OkStatus();
  RETURN_IF_ERROR(CheckRange("index_topk", index.top_k, 1, kMaxPositions));
  RETURN_IF_ERROR(CheckRange("index_n_heads", index.heads, 1, kMaxHeads));
  RETURN_IF_ERROR(CheckRange("index_head_dim", index.head_dim, 1, kMaxWidth / index.heads));
  return CheckRange("index_kpool", index.pooled_keys, 0, kMaxPositions);
}

absl::Status CheckLatent(const Attention& attention) {
  if (attention.sinks) {
    return absl::InvalidArgumentError(
        "kv_lora_rank: attention sinks of latent attention are not planned; must be absent where "
        "attention has sinks");
  }
  const int64_t widest = kMaxWidth / attention.heads;
  RETURN_IF_ERROR(CheckRange("q_lora_rank", attention.query_rank, 0, kMaxWidth));
  RETURN_IF_ERROR(CheckRange("kv_lora_rank", attention.kv_rank, 1, kMaxWidth));
  RETURN_IF_ERROR(CheckRange("qk_rope_head_dim", attention.rotary_dim, 0, attention.head_dim));
  RETURN_IF_ERROR(CheckRange("v_head_dim", attention.value_dim, 1, widest));
  return Check(attention.index);
}

absl::Status CheckCompressed(const Attention& attention) {
  RETURN_IF_ERROR(CheckRange("q_lora_rank", attention.query_rank, 1, kMaxWidth));
  RETURN_IF_ERROR(CheckRange("qk_rope_head_dim", attention.rotary_dim, 0, attention.head_dim));
  RETURN_IF_ERROR(CheckRange("compress_ratios", attention.compress_ratio, 0, kMaxPositions));
  RETURN_IF_ERROR(CheckRange("o_groups", attention.output_groups, 1, attention.heads));
  RETURN_IF_ERROR(
      CheckRange("o_lora_rank", attention.output_rank, 1, kMaxWidth / attention.output_groups));
  return Check(attention.index);
}

absl::Status Check(const Attention& attention) {
  RETURN_IF_ERROR(CheckRange("num_attention_heads", attention.heads, 1, kMaxHeads));
  RETURN_IF_ERROR(CheckRange("num_key_value_heads", attention.kv_heads, 1, attention.heads));
  if (attention.heads % attention.kv_heads != 0) {
    return FieldError("num_key_value_heads", attention.kv_heads,
                      "must divide num_attention_heads = " + std::to_string(attention.heads));
  }
  RETURN_IF_ERROR(CheckRange("head_dim", attention.head_dim, 1, kMaxWidth / attention.heads));
  RETURN_IF_ERROR(CheckRange("sliding_window", attention.window, 0, kMaxPositions));
  RETURN_IF_ERROR(CheckRange("d_rel", attention.relative_dim, 0, kMaxWidth));
  RETURN_IF_ERROR(CheckRange("rel_extent", attention.relative_positions, 0, kMaxPositions));
  RETURN_IF_ERROR(CheckRange("conv_kernel_size", attention.key_value_conv, 0, kMaxConvTokens));
  RETURN_IF_ERROR(CheckRange("cca_time0", attention.query_key_conv, 0, kMaxConvTokens));
  RETURN_IF_ERROR(CheckRange("cca_time1", attention.head_conv, 0, kMaxConvTokens));
  if (attention.is_latent()) return CheckLatent(attention);
  if (attention.kind == AttentionKind::kCompressed) return CheckCompressed(attention);
  RETURN_IF_ERROR(CheckRange("v_head_dim", attention.value_dim, 0, kMaxWidth / attention.heads));
  return Check(attention.index);
}

absl::Status CheckLossWeight(std::string_view field, double weight) {
  return weight == 0.0 ? absl::OkStatus() : CheckPositive(field, weight);
}

absl::Status Check(const Ffn& ffn) {
  if (ffn.clamp != 0.0 && (!ffn.gated() || ffn.dense_hidden() > 0)) {
    return FieldError("swiglu_limit", absl::StrCat(ffn.clamp),
                      "must be absent, unless a layer's FFN consists only of experts with SwiGLU");
  }
  return ffn.clamp == 0.0 ? absl::OkStatus() : CheckPositive("swiglu_limit", ffn.clamp);
}

absl::Status Check(const Experts& experts) {
  if (experts.count == 0) return absl::OkStatus();
  RETURN_IF_ERROR(CheckRange("moe_latent_size", experts.latent, 0, kMaxWidth));
  RETURN_IF_ERROR(CheckRange("num_experts", experts.count, 2, kMaxExperts));
  RETURN_IF_ERROR(CheckRange("router_hidden_size", experts.router_hidden, 0, kMaxWidth));
  RETURN_IF_ERROR(CheckRange("num_experts_per_tok", experts.top_k, 1, experts.count));
  RETURN_IF_ERROR(
      CheckRange("shared_expert_intermediate_size", experts.shared_hidden, 0, kMaxWidth));
  RETURN_IF_ERROR(CheckRange("n_group", experts.groups, 1, experts.count));
  RETURN_IF_ERROR(CheckRange("topk_group", experts.top_groups, 1, experts.groups));
  RETURN_IF_ERROR(CheckLossWeight("router_aux_loss_coef", experts.balance_loss));
  RETURN_IF_ERROR(CheckLossWeight("router_z_loss_coef", experts.z_loss));
  RETURN_IF_ERROR(CheckLossWeight("moe_router_bias_update_rate", experts.bias_update_rate));
  const double factor = experts.capacity_factor;
  if (factor == 0.0 || (factor >= 1.0 && factor <= static_cast<double>(experts.count))) {
    return absl::OkStatus();
  }
  return FieldError("moe_expert_capacity_factor", absl::StrCat(factor),
                    "must be 0, which drops no token, or from 1 to num_experts = " +
                        std::to_string(experts.count));
}

absl::Status CheckExists(const LayerGroup& group) {
  if (group.mixes() || group.ffn.exists()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "layer_types: a layer has neither attention, nor a recurrence, nor an FFN; must have one");
}

absl::Status Check(const LayerGroup& group, int64_t hidden) {
  RETURN_IF_ERROR(CheckExists(group));
  RETURN_IF_ERROR(Validate(group.recurrence, hidden));
  RETURN_IF_ERROR(CheckRange("adapter_rank", group.shared_block.adapter_rank, 0, kMaxWidth));
  if (group.ffn.exists()) {
    RETURN_IF_ERROR(CheckRange("intermediate_size", group.ffn.hidden, 1, kMaxWidth));
    RETURN_IF_ERROR(Check(group.ffn));
    RETURN_IF_ERROR(Check(group.ffn.experts));
  }
  return CheckRange("num_hidden_layers", group.count, 1, kMaxLayers);
}

}  // namespace

int64_t Experts::capacity(int64_t seq_len) const {
  const double even_slots = static_cast<double>(seq_len * top_k) / static_cast<double>(count);
  return static_cast<int64_t>(std::ceil(capacity_factor * even_slots));
}

int64_t ModelSpec::layers() const {
  int64_t count = 0;
  for (const LayerGroup& group : groups) count += group.count;
  return count;
}

bool ModelSpec::has_experts() const {
  return std::any_of(groups.begin(), groups.end(),
                     [](const LayerGroup& group) { return group.ffn.has_experts(); });
}

const Attention& ModelSpec::FirstAttention() const {
  for (const LayerGroup& group : groups) {
    if (group.attention.exists()) return group.attention;
  }
  return kNoAttention;
}

const Ffn& ModelSpec::FirstFfn() const {
  for (const LayerGroup& group : groups) {
    if (group.ffn.exists()) return group.ffn;
  }
  return kNoFfn;
}

const LayerGroup& ModelSpec::GroupOf(int64_t layer) const {
  for (const LayerGroup& group : groups) {
    if (layer < group.count) return group;
    layer -= group.count;
  }
  return groups.back();
}

absl::Status Validate(const ModelSpec& model) {
  RETURN_IF_ERROR(CheckRange("hidden_size", model.hidden, 1, kMaxWidth));
  for (const LayerGroup& group : model.groups) {
    if (group.attention.exists()) RETURN_IF_ERROR(Check(group.attention));
  }
  RETURN_IF_ERROR(CheckRange("vocab_size", model.vocab, 1, kMaxVocab));
  RETURN_IF_ERROR(CheckPositive("rms_norm_eps", model.norm_epsilon));
  const bool learns_positions = model.positions == Positions::kLearned;
  RETURN_IF_ERROR(CheckRange("max_position_embeddings", model.learned_positions,
                             learns_positions ? 1 : 0, learns_positions ? kMaxPositions : 0));
  RETURN_IF_ERROR(CheckShare("partial_rotary_factor", model.rotary_share));
  RETURN_IF_ERROR(CheckPositive("rope_theta", model.rope_theta));
  RETURN_IF_ERROR(Validate(model.rope_scaling));
  RETURN_IF_ERROR(CheckPositive("initializer_range", model.initializer_range));
  const bool predicts_streams = model.stream_kind == StreamKind::kAltUp;
  RETURN_IF_ERROR(CheckRange(predicts_streams ? "altup_num_inputs" : "hc_mult",
                             model.residual_streams, 1, kMaxStreams));
  RETURN_IF_ERROR(CheckRange("laurel_rank", model.laurel_rank, 0, kMaxWidth));
  RETURN_IF_ERROR(CheckRange("gated_norm_rank", model.norm_gate_rank, 0, kMaxWidth));
  RETURN_IF_ERROR(CheckRange("hidden_size_per_layer_input", model.layer_input, 0, kMaxWidth));
  RETURN_IF_ERROR(CheckRange("vocab_size_per_layer_input", model.layer_input_vocab, 0, kMaxVocab));
  for (const LayerGroup& group : model.groups) RETURN_IF_ERROR(Check(group, model.hidden));
  if (model.mtp_layer) {
    if (model.mtp_layer->attention.exists()) RETURN_IF_ERROR(Check(model.mtp_layer->attention));
    RETURN_IF_ERROR(Check(*model.mtp_layer, model.hidden));
  }
  RETURN_IF_ERROR(CheckRange("num_nextn_predict_layers", model.mtp_layers, 0, kMaxMtpLayers));
  return CheckRange("num_hidden_layers", model.layers(), 1, kMaxLayers);
}

}  // namespace meshwright::planner

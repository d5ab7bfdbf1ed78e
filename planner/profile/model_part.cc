#include "planner/profile/model_part.h"

#include "base/text/enum_names.h"

namespace meshwright::planner {
namespace {

constexpr EnumNames<ModelPart, 55> kModelPartNames = {{
    {ModelPart::kRotaryPositions, "rotary_positions"},
    {ModelPart::kPartialRotary, "partial_rotary"},
    {ModelPart::kLearnedPositions, "learned_positions"},
    {ModelPart::kAlibi, "alibi"},
    {ModelPart::kNoPositions, "no_positions"},
    {ModelPart::kRmsNorm, "rms_norm"},
    {ModelPart::kLayerNorm, "layer_norm"},
    {ModelPart::kPlainLayerNorm, "plain_layer_norm"},
    {ModelPart::kEmbeddingNorm, "embedding_norm"},
    {ModelPart::kQkNormOverWidth, "qk_norm_over_width"},
    {ModelPart::kParallelBlock, "parallel_block"},
    {ModelPart::kNormBehind, "norm_behind"},
    {ModelPart::kSandwichNorms, "sandwich_norms"},
    {ModelPart::kBiases, "biases"},
    {ModelPart::kHeadBias, "head_bias"},
    {ModelPart::kExperts, "experts"},
    {ModelPart::kExpertsWithoutGate, "experts_without_gate"},
    {ModelPart::kExpertBiases, "expert_biases"},
    {ModelPart::kClampedSwiGlu, "clamped_swiglu"},
    {ModelPart::kRouterBias, "router_bias"},
    {ModelPart::kExpertCapacity, "expert_capacity"},
    {ModelPart::kSharedExpertGate, "shared_expert_gate"},
    {ModelPart::kLatentAttention, "latent_attention"},
    {ModelPart::kQueriesWithoutLatent, "queries_without_latent"},
    {ModelPart::kWideValues, "wide_values"},
    {ModelPart::kOtherValueWidth, "other_value_width"},
    {ModelPart::kSlidingWindow, "sliding_window"},
    {ModelPart::kChunkedAttention, "chunked_attention"},
    {ModelPart::kSinks, "attention_sinks"},
    {ModelPart::kFurtherTokens, "further_tokens"},
    {ModelPart::kGatedDelta, "gated_delta_net"},
    {ModelPart::kKimiDelta, "kimi_delta_attention"},
    {ModelPart::kMamba2, "mamba2"},
    {ModelPart::kMamba1, "mamba1"},
    {ModelPart::kLightning, "lightning_attention"},
    {ModelPart::kShortConvolution, "short_convolution"},
    {ModelPart::kRgLru, "rg_lru"},
    {ModelPart::kSingleParts, "single_parts"},
    {ModelPart::kAttentionGate, "attention_gate"},
    {ModelPart::kSparseIndex, "sparse_index"},
    {ModelPart::kCompressedAttention, "compressed_attention"},
    {ModelPart::kSharedKeys, "shared_keys"},
    {ModelPart::kValuesAreKeys, "values_are_keys"},
    {ModelPart::kExpertLatent, "expert_latent"},
    {ModelPart::kResidualStreams, "residual_streams"},
    {ModelPart::kTower, "tower"},
    {ModelPart::kLayerInputs, "layer_inputs"},
    {ModelPart::kHeadGate, "head_gate"},
    {ModelPart::kParallelMixers, "parallel_mixers"},
    {ModelPart::kSharedBlocks, "shared_blocks"},
    {ModelPart::kLaurel, "laurel"},
    {ModelPart::kRelativeScores, "relative_scores"},
    {ModelPart::kKeyConvolutions, "key_convolutions"},
    {ModelPart::kNormGate, "norm_gate"},
    {ModelPart::kRouterLayers, "router_layers"},
}};

ModelPart PositionsOf(const ModelSpec& model) {
  switch (model.positions) {
    case Positions::kRotary:
      return ModelPart::kRotaryPositions;
    case Positions::kLearned:
      return ModelPart::kLearnedPositions;
    case Positions::kAlibi:
      return ModelPart::kAlibi;
    case Positions::kNone:
      break;
  }
  return ModelPart::kNoPositions;
}

ModelPart NormOf(const ModelSpec& model) {
  if (model.norm == StreamNorm::kRms) return ModelPart::kRmsNorm;
  return model.norm == StreamNorm::kLayerPlain ? ModelPart::kPlainLayerNorm : ModelPart::kLayerNorm;
}

void AddExpertParts(const Ffn& ffn, EnumSet<ModelPart>& parts) {
  if (!ffn.has_experts()) return;
  parts.Add(ModelPart::kExperts);
  if (!ffn.gated()) parts.Add(ModelPart::kExpertsWithoutGate);
  if (ffn.bias) parts.Add(ModelPart::kExpertBiases);
  if (ffn.clamp > 0.0) parts.Add(ModelPart::kClampedSwiGlu);
  if (ffn.experts.router_bias) parts.Add(ModelPart::kRouterBias);
  if (ffn.experts.capacity_factor > 0.0) parts.Add(ModelPart::kExpertCapacity);
  if (ffn.experts.shared_gate) parts.Add(ModelPart::kSharedExpertGate);
  if (ffn.experts.router_hidden > 0) parts.Add(ModelPart::kRouterLayers);
}

void AddValueParts(const Attention& attention, EnumSet<ModelPart>& parts) {
  if (!attention.is_latent()) {
    if (attention.value_dim > 0) parts.Add(ModelPart::kOtherValueWidth);
    return;
  }
  parts.Add(ModelPart::kLatentAttention);
  if (attention.query_rank == 0) parts.Add(ModelPart::kQueriesWithoutLatent);
  if (attention.value_dim > attention.head_dim) parts.Add(ModelPart::kWideValues);
}

void AddMixerParts(const LayerGroup& group, EnumSet<ModelPart>& parts) {
  constexpr auto kBeforeFirst = static_cast<int>(ModelPart::kGatedDelta) - 1;
  static_assert(static_cast<int>(RecurrenceKind::kRgLru) + kBeforeFirst ==
                static_cast<int>(ModelPart::kRgLru));
  const Attention& attention = group.attention;
  if (group.recurrence.exists()) {
    parts.Add(static_cast<ModelPart>(static_cast<int>(group.recurrence.kind) + kBeforeFirst));
  }
  if (!group.mixes() || !group.ffn.exists()) parts.Add(ModelPart::kSingleParts);
  if (group.shared_block.runs) {
    parts.Add(ModelPart::kSharedBlocks);
  } else if (group.recurrence.exists() && attention.exists()) {
    parts.Add(ModelPart::kParallelMixers);
  }
  const AttentionGate gate = attention.gate;
  if (gate == AttentionGate::kWidth || gate == AttentionGate::kLatent) {
    parts.Add(ModelPart::kAttentionGate);
  }
  if (attention.relative_dim > 0) parts.Add(ModelPart::kRelativeScores);
  if (attention.key_value_conv > 0 || attention.query_key_conv > 0) {
    parts.Add(ModelPart::kKeyConvolutions);
  }
  if (attention.gate == AttentionGate::kHeads) parts.Add(ModelPart::kHeadGate);
  if (attention.kind == AttentionKind::kCompressed) parts.Add(ModelPart::kCompressedAttention);
  if (attention.index.exists()) parts.Add(ModelPart::kSparseIndex);
  if (attention.shares_keys) parts.Add(ModelPart::kSharedKeys);
  if (attention.values_are_keys) parts.Add(ModelPart::kValuesAreKeys);
  if (group.ffn.experts.latent > 0) parts.Add(ModelPart::kExpertLatent);
}

}  // namespace

EnumSet<ModelPart> PartsOf(const ModelSpec& model) {
  EnumSet<ModelPart> parts = {PositionsOf(model), NormOf(model)};
  if (model.rotary_share != 1.0) parts.Add(ModelPart::kPartialRotary);
  if (model.embedding_norm) parts.Add(ModelPart::kEmbeddingNorm);
  if (model.arrangement == Arrangement::kNormBehind) parts.Add(ModelPart::kNormBehind);
  if (model.arrangement == Arrangement::kSandwich) parts.Add(ModelPart::kSandwichNorms);
  if (model.arrangement == Arrangement::kParallel ||
      model.arrangement == Arrangement::kParallelOneNorm) {
    parts.Add(ModelPart::kParallelBlock);
  }
  if (model.head_bias) parts.Add(ModelPart::kHeadBias);
  bool biases = false;
  for (const LayerGroup& group : model.groups) {
    biases = biases || group.attention.output_bias || group.ffn.bias;
    AddExpertParts(group.ffn, parts);
    AddMixerParts(group, parts);
    AddValueParts(group.attention, parts);
    if (group.attention.window > 0) {
      parts.Add(group.attention.chunked ? ModelPart::kChunkedAttention : ModelPart::kSlidingWindow);
    }
    if (group.attention.sinks) parts.Add(ModelPart::kSinks);
    if (group.attention.qk_norm_over_width) parts.Add(ModelPart::kQkNormOverWidth);
  }
  if (model.residual_streams > 1) parts.Add(ModelPart::kResidualStreams);
  if (model.laurel_rank > 0) parts.Add(ModelPart::kLaurel);
  if (model.norm_gate_rank > 0) parts.Add(ModelPart::kNormGate);
  if (!model.towers.empty()) parts.Add(ModelPart::kTower);
  if (model.layer_input > 0) parts.Add(ModelPart::kLayerInputs);
  if (model.mtp_layers > 0) parts.Add(ModelPart::kFurtherTokens);
  if (biases) parts.Add(ModelPart::kBiases);
  return parts;
}

std::string_view ModelPartName(ModelPart part) { return NameOf(kModelPartNames, part); }

absl::StatusOr<ModelPart> ParseModelPart(std::string_view text) {
  return KindOf(kModelPartNames, "model part", text);
}

}  // namespace meshwright::planner

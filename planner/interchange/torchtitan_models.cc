#include "planner/interchange/torchtitan_models.h"

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "planner/interchange/aside_keys.h"
#include "planner/profile/part_refusal.h"

namespace meshwright::planner {
namespace {

// torchtitan's Llama 3 is Llama 3.1: the scaling of the rotary embedding cannot be turned off, only
// given another factor.
constexpr TorchtitanFamily kLlama3 = {
    "llama3", 128256, 1e-5, 500000.0, {.kind = RopeScalingKind::kLlama3, .factor = 8.0}};
constexpr TorchtitanFamily kQwen3 = {"qwen3", 151936, 1e-6, 1000000.0, {}};

// CheckModel accepts models of one layer group alone, so this holds for all layers.
const Attention& AttentionOf(const ModelSpec& model) { return model.groups.front().attention; }

const TorchtitanFamily& FamilyOf(const ModelSpec& model) {
  return AttentionOf(model).qk_norm ? kQwen3 : kLlama3;
}

constexpr TorchtitanFlavor kFlavors[] = {
    {"8B", kLlama3, 4096, 32, 32, 8, 14336},
    {"70B", kLlama3, 8192, 80, 64, 8, 28672},
    {"405B", kLlama3, 16384, 126, 128, 8, 53248},
    {"0.6B", kQwen3, 1024, 28, 16, 8, 3072, 128, true},
    {"1.7B", kQwen3, 2048, 28, 16, 8, 6144, 128, true},
    {"4B", kQwen3, 2560, 36, 32, 8, 9728, 128, true},
    {"8B", kQwen3, 4096, 36, 32, 8, 12288},
    {"14B", kQwen3, 5120, 40, 40, 8, 17408},
    {"32B", kQwen3, 5120, 64, 64, 8, 25600},
};

absl::Status CheckRope(const ModelSpec& model) {
  const RopeScalingKind kind = model.rope_scaling.kind;
  if (kind == RopeScalingKind::kLinear) {
    return FieldError("rope_scaling.rope_type", RopeScalingName(kind),
                      "torchtitan has no such scaling; must be default or, for Llama, llama3");
  }
  if (kind == RopeScalingKind::kLlama3 && AttentionOf(model).qk_norm) {
    return FieldError("rope_scaling.rope_type", RopeScalingName(kind),
                      "torchtitan's Qwen3 has no scaled rotary embedding; must be default");
  }
  return absl::OkStatus();
}

// Checks what torchtitan's Llama 3 derives or leaves out, where Qwen3 has an argument.
absl::Status CheckLlama3(const ModelSpec& model) {
  if (model.tied_embeddings) {
    return FieldError("tie_word_embeddings", "true",
                      "torchtitan's Llama 3 has a head of its own; must be false");
  }
  if (AttentionOf(model).query_width() != model.hidden) {
    return FieldError("head_dim", AttentionOf(model).head_dim,
                      "torchtitan's Llama 3 divides hidden_size among the heads; must be "
                      "hidden_size / num_attention_heads");
  }
  return absl::OkStatus();
}

absl::Status Refuse(const ModelSpec& model, const std::string& part) {
  return RefuseParts(model, {part}, {}, "torchtitan has no setting for",
                     "estimate and recommend plan it");
}

// Returns the arguments that only one of the two families has.
std::string FamilyArguments(const ModelSpec& model) {
  if (AttentionOf(model).qk_norm) {
    return absl::StrCat(",\n# head_dim ", AttentionOf(model).head_dim, ", enable_weight_tying ",
                        model.tied_embeddings ? "True" : "False");
  }
  const RopeScaling& scaling = model.rope_scaling;  // a factor of 1 where there is none
  return absl::StrCat(",\n# rope_scaling_args with scaling_factor ", scaling.factor,
                      ", low_freq_factor ", scaling.low_freq_factor, ", high_freq_factor ",
                      scaling.high_freq_factor, ",\n# original_max_position_embeddings ",
                      scaling.original_max_positions);
}

}  // namespace

const TorchtitanFamily& TorchtitanFamilyOf(const ModelSpec& model) { return FamilyOf(model); }

// Mistral 7B has the shape of Llama 3 8B except for the vocabulary, and Llama 3 8B differs from
// Llama 3.1 8B in the rotary embedding alone.
const TorchtitanFlavor* FindTorchtitanFlavor(const ModelSpec& model) {
  const TorchtitanFamily& family = FamilyOf(model);
  if (model.vocab != family.vocab || model.norm_epsilon != family.norm_epsilon ||
      model.rope_theta != family.rope_theta || model.rope_scaling != family.rope_scaling) {
    return nullptr;
  }
  const Attention& attention = AttentionOf(model);
  for (const TorchtitanFlavor& flavor : kFlavors) {
    if (&flavor.family == &family && flavor.hidden == model.hidden &&
        flavor.layers == model.layers() && flavor.heads == attention.heads &&
        flavor.kv_heads == attention.kv_heads &&
        flavor.ffn_hidden == model.groups.front().ffn.hidden &&
        flavor.head_dim == attention.head_dim && flavor.tied_embeddings == model.tied_embeddings) {
      return &flavor;
    }
  }
  return nullptr;
}

const TorchtitanFlavor* FindTorchtitanFlavor(std::string_view family, std::string_view name) {
  for (const TorchtitanFlavor& flavor : kFlavors) {
    if (family == flavor.family.name && name == flavor.name) return &flavor;
  }
  return nullptr;
}

absl::Status CheckTorchtitanModel(const ModelSpec& model) {
  if (model.groups.size() > 1) return Refuse(model, kShapesPart);
  if (AttentionOf(model).qkv_bias) return Refuse(model, kQkvBiasPart);
  RETURN_IF_ERROR(CheckRope(model));
  RETURN_IF_ERROR(
      AsideKeys(model, KeyUser::kTorchtitan).CheckSaid("torchtitan has no setting for"));
  return AttentionOf(model).qk_norm ? absl::OkStatus() : CheckLlama3(model);
}

std::string TorchtitanModelComment(const ModelSpec& model) {
  return absl::StrCat("# torchtitan has no flavor of this model; add one: dim ", model.hidden,
                      ", n_layers ", model.layers(), ", n_heads ", AttentionOf(model).heads,
                      ", n_kv_heads ", AttentionOf(model).kv_heads, ",\n# FFN width ",
                      model.groups.front().ffn.hidden, ", vocab_size ", model.vocab, ", norm_eps ",
                      model.norm_epsilon, ", rope_theta ", model.rope_theta, FamilyArguments(model),
                      ".\n");
}

}  // namespace meshwright::planner

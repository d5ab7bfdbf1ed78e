#include "planner/report/megatron_model.h"

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"

namespace meshwright::planner {
namespace {

constexpr int64_t kVocabMultiple = 128;

// By layer, whether it has a property; written as a Python list, which Megatron-LM evaluates.
using LayerFlags = std::vector<bool>;

template <typename HasIt>
LayerFlags FlagsOf(const ModelSpec& model, HasIt has_it) {
  LayerFlags flags;
  for (const LayerGroup& group : model.groups) {
    flags.insert(flags.end(), static_cast<size_t>(group.count), has_it(group));
  }
  return flags;
}

// Returns the length of the shortest prefix whose repetition gives all flags.
size_t PeriodOf(const LayerFlags& flags) {
  for (size_t period = 1; period < flags.size(); ++period) {
    if (flags.size() % period != 0) continue;
    bool repeats = true;
    for (size_t i = period; repeats && i < flags.size(); ++i) {
      repeats = flags[i] == flags[i - period];
    }
    if (repeats) return period;
  }
  return flags.size();
}

// Returns text such as ([0]*3+[1]*58), or ([1]*3+[0]*1)*12.
std::string PythonList(const LayerFlags& flags) {
  const size_t period = PeriodOf(flags);
  std::vector<std::string> runs;
  for (size_t begin = 0; begin < period;) {
    size_t end = begin + 1;
    while (end < period && flags[end] == flags[begin]) ++end;
    runs.push_back(absl::StrFormat("[%d]*%d", flags[begin] ? 1 : 0, end - begin));
    begin = end;
  }
  const std::string list = "(" + absl::StrJoin(runs, "+") + ")";
  return period == flags.size() ? list : absl::StrCat(list, "*", flags.size() / period);
}

// The layer groups, by the properties in which they may differ.
struct LayerKinds {
  const Attention* attention = nullptr;  // without its window
  int64_t window = 0;                    // of the layers that have a window
  const Ffn* dense = nullptr;            // null where all layers have experts
  const Ffn* experts = nullptr;          // null where none has
};

Attention WithoutWindow(Attention attention) {
  attention.window = 0;
  attention.chunked = false;
  return attention;
}

std::optional<LayerKinds> KindsOf(const ModelSpec& model) {
  LayerKinds kinds;
  for (const LayerGroup& group : model.groups) {
    const Ffn*& ffn = group.ffn.has_experts() ? kinds.experts : kinds.dense;
    if (ffn == nullptr) ffn = &group.ffn;
    if (kinds.attention == nullptr) kinds.attention = &group.attention;
    if (kinds.window == 0) kinds.window = group.attention.window;
    const bool same = *ffn == group.ffn &&
                      WithoutWindow(*kinds.attention) == WithoutWindow(group.attention) &&
                      (group.attention.window == 0 || group.attention.window == kinds.window);
    if (!same) return std::nullopt;
  }
  return kinds;
}

// --use-rope-scaling fixes everything except the factor.
absl::Status CheckLlama3Scaling(const RopeScaling& scaling) {
  constexpr char kFixed[] = "Megatron-LM's --use-rope-scaling has it fixed; must be ";
  const RopeScaling fixed;
  if (scaling.low_freq_factor != fixed.low_freq_factor) {
    return FieldError("rope_scaling.low_freq_factor", absl::StrCat(scaling.low_freq_factor),
                      absl::StrCat(kFixed, fixed.low_freq_factor));
  }
  if (scaling.high_freq_factor != fixed.high_freq_factor) {
    return FieldError("rope_scaling.high_freq_factor", absl::StrCat(scaling.high_freq_factor),
                      absl::StrCat(kFixed, fixed.high_freq_factor));
  }
  if (scaling.original_max_positions != fixed.original_max_positions) {
    return FieldError("rope_scaling.original_max_position_embeddings",
                      scaling.original_max_positions,
                      absl::StrCat(kFixed, fixed.original_max_positions));
  }
  return absl::OkStatus();
}

// Checks values of flags that accept only whole numbers.
absl::Status CheckWhole(std::string_view key, double value, const char* flag) {
  if (value == std::floor(value)) return absl::OkStatus();
  return FieldError(key, absl::StrCat(value),
                    absl::StrCat("Megatron-LM's ", flag, " takes a whole number; must be one"));
}

absl::Status AddRope(const ModelSpec& model, MegatronScript& script) {
  RETURN_IF_ERROR(CheckWhole("rope_theta", model.rope_theta, "--rotary-base"));
  script.flags.push_back(absl::StrFormat("--position-embedding-type rope --rotary-base %d",
                                         std::llround(model.rope_theta)));
  if (model.rotary_share != 1.0) {
    script.flags.push_back(absl::StrFormat("--rotary-percent %g", model.rotary_share));
  }
  const RopeScaling& scaling = model.rope_scaling;
  switch (scaling.kind) {
    case RopeScalingKind::kNone:
      return absl::OkStatus();
    case RopeScalingKind::kLinear:
      RETURN_IF_ERROR(CheckWhole("rope_scaling.factor", scaling.factor,
                                 "--rotary-seq-len-interpolation-factor"));
      script.flags.push_back(absl::StrFormat("--rotary-seq-len-interpolation-factor %d",
                                             std::llround(scaling.factor)));
      return absl::OkStatus();
    case RopeScalingKind::kLlama3:
      RETURN_IF_ERROR(CheckLlama3Scaling(scaling));
      script.flags.push_back(
          absl::StrFormat("--use-rope-scaling --rope-scaling-factor %g", scaling.factor));
      return absl::OkStatus();
  }
  return absl::OkStatus();
}

void AddLatentAttention(const Attention& attention, std::vector<std::string>& flags) {
  flags.push_back(
      absl::StrFormat("--multi-latent-attention --num-attention-heads %d", attention.heads));
  std::string ranks = absl::StrFormat("--kv-lora-rank %d", attention.kv_rank);
  if (attention.query_rank > 0) absl::StrAppend(&ranks, " --q-lora-rank ", attention.query_rank);
  flags.push_back(ranks);
  // Megatron-LM's --qk-head-dim is the part of a head that is not rotated.
  flags.push_back(absl::StrFormat("--qk-head-dim %d --qk-pos-emb-head-dim %d --v-head-dim %d",
                                  attention.head_dim - attention.rotary_dim, attention.rotary_dim,
                                  attention.value_dim));
  // The latents' norms. The default rotary embedding of latent attention is YaRN.
  flags.push_back("--qk-layernorm --rope-type rope");
}

void AddHeads(const Attention& attention, std::vector<std::string>& flags) {
  flags.push_back(absl::StrFormat("--num-attention-heads %d --kv-channels %d", attention.heads,
                                  attention.head_dim));
  if (attention.kv_heads != attention.heads) {
    flags.push_back(
        absl::StrFormat("--group-query-attention --num-query-groups %d", attention.kv_heads));
  }
  if (attention.qk_norm) flags.push_back("--qk-layernorm");
}

void AddAttention(const ModelSpec& model, const LayerKinds& kinds,
                  std::vector<std::string>& flags) {
  if (kinds.attention->is_latent()) {
    AddLatentAttention(*kinds.attention, flags);
  } else {
    AddHeads(*kinds.attention, flags);
  }
  if (kinds.attention->sinks) flags.push_back("--softmax-type learnable");
  if (kinds.window == 0) return;
  // Megatron-LM's window counts the tokens to the left of a query, without the query.
  flags.push_back(absl::StrFormat("--window-size %d,0", kinds.window - 1));
  const LayerFlags windowed =
      FlagsOf(model, [](const LayerGroup& group) { return group.attention.window > 0; });
  if (windowed != LayerFlags(windowed.size(), true)) {
    flags.push_back("--window-attn-skip-freq '" + PythonList(windowed) + "'");
  }
}

void AddRouter(const Experts& experts, std::vector<std::string>& flags) {
  const bool sigmoid = experts.score == RouterScore::kSigmoid;
  std::string router =
      absl::StrFormat("--moe-router-topk %d --moe-router-score-function %s --moe-router-dtype fp32",
                      experts.top_k, sigmoid ? "sigmoid" : "softmax");
  // A softmax over one picked expert would be 1 whatever the scores.
  if (!sigmoid && experts.top_k == 1) absl::StrAppend(&router, " --moe-router-pre-softmax");
  if (experts.selection_bias) absl::StrAppend(&router, " --moe-router-enable-expert-bias");
  flags.push_back(router);
  if (experts.groups > 1) {
    flags.push_back(absl::StrFormat("--moe-router-num-groups %d --moe-router-group-topk %d",
                                    experts.groups, experts.top_groups));
  }
}

void AddExperts(const ModelSpec& model, const Ffn& ffn, MegatronScript& script) {
  const Experts& experts = ffn.experts;
  auto& flags = script.flags;
  flags.push_back(absl::StrFormat("--num-experts %d --moe-ffn-hidden-size %d --moe-grouped-gemm",
                                  experts.count, ffn.hidden));
  const LayerFlags has_experts =
      FlagsOf(model, [](const LayerGroup& group) { return group.ffn.has_experts(); });
  if (has_experts != LayerFlags(has_experts.size(), true)) {
    flags.push_back("--moe-layer-freq '" + PythonList(has_experts) + "'");
  }
  AddRouter(experts, flags);
  flags.push_back("--moe-token-dispatcher-type alltoall --moe-permute-fusion");
  if (experts.shared_hidden > 0) {
    flags.push_back(
        absl::StrFormat("--moe-shared-expert-intermediate-size %d", experts.shared_hidden));
    if (experts.shared_gate) flags.push_back("--moe-shared-expert-gate");
  }
  if (experts.balance_loss > 0.0) {
    flags.push_back(absl::StrFormat("--moe-aux-loss-coeff %g", experts.balance_loss));
  }
  if (experts.z_loss > 0.0) {
    flags.push_back(absl::StrFormat("--moe-z-loss-coeff %g", experts.z_loss));
  }
  if (experts.capacity_factor > 0.0) {
    flags.push_back(
        absl::StrFormat("--moe-expert-capacity-factor %g --moe-pad-expert-input-to-capacity",
                        experts.capacity_factor));
  }
  script.comments.push_back(
      "--moe-router-load-balancing-type and --moe-router-topk-scaling-factor are yours to pass, "
      "too.");
}

// The constants of a clamped SwiGLU are those of the published runs.
void AddActivation(const Ffn& ffn, std::vector<std::string>& flags) {
  if (!ffn.gated()) return;
  flags.push_back(ffn.clamp == 0.0 ? "--swiglu"
                                   : absl::StrFormat("--quick-geglu --glu-linear-offset 1.0 "
                                                     "--activation-func-clamp-value %g",
                                                     ffn.clamp));
}

// Megatron-LM's linear layers, including the router's, either all have biases, or all but QKV's
// have none.
absl::Status AddBiases(const LayerKinds& kinds, std::vector<std::string>& flags) {
  const Attention& attention = *kinds.attention;
  bool all = attention.qkv_bias && attention.output_bias;
  bool none = !attention.output_bias;
  for (const Ffn* ffn : {kinds.dense, kinds.experts}) {
    if (ffn == nullptr) continue;
    all = all && ffn->bias && (!ffn->has_experts() || ffn->experts.router_bias);
    none = none && !ffn->bias && !ffn->experts.router_bias;
  }
  if (none) {
    flags.push_back(attention.qkv_bias ? "--disable-bias-linear --add-qkv-bias"
                                       : "--disable-bias-linear");
  }
  if (all || none) return absl::OkStatus();
  return FieldError(
      "attention_bias", attention.output_bias ? "true" : "false",
      "gives biases to some linear layers only; must be given to those of attention, FFN "
      "and router, or to none of them but QKV, for Megatron-LM");
}

}  // namespace

absl::Status AddModel(const ModelSpec& model, int64_t seq_len, MegatronScript& script) {
  const std::optional<LayerKinds> kinds = KindsOf(model);
  if (!kinds) {
    return FieldError("model", model.name,
                      "has layers that differ in more than experts and windows, which Megatron-LM "
                      "has no flags for; must have layers of one shape but for these");
  }
  auto& flags = script.flags;
  const Ffn& ffn = kinds->dense != nullptr ? *kinds->dense : *kinds->experts;
  flags.push_back(absl::StrFormat("--num-layers %d --hidden-size %d --ffn-hidden-size %d",
                                  model.layers(), model.hidden, ffn.hidden));
  AddAttention(model, *kinds, flags);
  AddActivation(ffn, flags);
  if (kinds->experts != nullptr) AddExperts(model, *kinds->experts, script);
  if (model.mtp_layers > 0) flags.push_back(absl::StrCat("--mtp-num-layers ", model.mtp_layers));
  flags.push_back(absl::StrFormat("--normalization RMSNorm --norm-epsilon %g", model.norm_epsilon));
  RETURN_IF_ERROR(AddRope(model, script));
  flags.push_back(
      absl::StrFormat("--seq-length %d --max-position-embeddings %d", seq_len, seq_len));
  flags.push_back(absl::StrFormat("--vocab-size %d --make-vocab-size-divisible-by %d", model.vocab,
                                  kVocabMultiple));
  RETURN_IF_ERROR(AddBiases(*kinds, flags));
  if (!model.tied_embeddings) flags.push_back("--untie-embeddings-and-output-weights");
  flags.push_back(absl::StrFormat("--init-method-std %g", model.initializer_range));
  // Megatron-LM's own defaults are 0.1.
  flags.push_back("--attention-dropout 0.0 --hidden-dropout 0.0");
  return absl::OkStatus();
}

}  // namespace meshwright::planner

#include "planner/interchange/megatron_model.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/text/status_macros.h"
#include "planner/interchange/aside_keys.h"
#include "planner/interchange/layer_list.h"
#include "planner/interchange/megatron_experts.h"
#include "planner/interchange/megatron_hybrid.h"
#include "planner/interchange/megatron_rope.h"
#include "planner/profile/part_refusal.h"

namespace meshwright::planner {
namespace {

constexpr int64_t kVocabMultiple = 128;

// The layer groups, by the properties in which they may differ. A pointer is null if no layer
// has the part.
struct LayerKinds {
  const Attention* attention = nullptr;  // without its window
  int64_t window = 0;                    // of the layers that have a window
  const Ffn* dense = nullptr;
  const Ffn* experts = nullptr;
  const Recurrence* recurrence = nullptr;
};

// Leaves out properties for which Megatron-LM takes a list of layers.
Attention OfAnyLayer(Attention attention) {
  attention.window = 0;
  attention.chunked = false;
  attention.index.shared = false;
  return attention;
}

template <typename Part>
bool IsOnlyKind(const Part& part, const Part*& known) {
  if (known == nullptr) known = &part;
  return *known == part;
}

std::optional<LayerKinds> KindsOf(const ModelSpec& model) {
  LayerKinds kinds;
  for (const LayerGroup& group : model.groups) {
    bool same = true;
    if (group.ffn.exists()) {
      same = IsOnlyKind(group.ffn, group.ffn.has_experts() ? kinds.experts : kinds.dense);
    }
    if (group.recurrence.exists()) same = same && IsOnlyKind(group.recurrence, kinds.recurrence);
    if (const Attention& attention = group.attention; attention.exists()) {
      if (kinds.attention == nullptr) kinds.attention = &attention;
      if (kinds.window == 0) kinds.window = attention.window;
      same = same && OfAnyLayer(*kinds.attention) == OfAnyLayer(attention) &&
             (attention.window == 0 || attention.window == kinds.window);
    }
    if (!same) return std::nullopt;
  }
  return kinds;
}

absl::Status Refuse(const ModelSpec& model, const std::string& part, const char* lacks) {
  return RefuseParts(model, {part}, {}, lacks, "estimate and recommend plan it");
}

// Megatron-LM's rule for layers that use the keys that an earlier one picked: counted from 1, a
// layer picks keys itself if its distance to `offset` is a multiple of `every`, or it comes before.
bool Shares(int64_t layer, int64_t offset, int64_t every) {
  return std::max<int64_t>(layer - std::max<int64_t>(offset, 1), 0) % every != 0;
}

absl::Status AddSharedIndex(const ModelSpec& model, std::vector<std::string>& flags) {
  const LayerFlags shared = FlagsOf(model, /*is_hybrid=*/false, [](const LayerGroup& group) {
    return group.attention.index.shared;
  });
  if (shared == LayerFlags(shared.size(), false)) return absl::OkStatus();
  const auto layers = static_cast<int64_t>(shared.size());
  for (int64_t every = 2; every <= layers; ++every) {
    for (int64_t offset = 1; offset <= layers; ++offset) {
      bool fits = true;
      for (int64_t layer = 1; fits && layer <= layers; ++layer) {
        fits = Shares(layer, offset, every) == shared[static_cast<size_t>(layer - 1)];
      }
      if (!fits) continue;
      flags.push_back(absl::StrFormat(
          "--dsa-indexer-topk-freq %d --dsa-indexer-skip-topk-offset %d", every, offset));
      return absl::OkStatus();
    }
  }
  return Refuse(
      model, "shared_index",
      "Megatron-LM's layers share picked keys only at a fixed interval, with no flag for");
}

absl::Status AddIndex(const ModelSpec& model, const SparseIndex& index,
                      std::vector<std::string>& flags) {
  if (index.pooled_keys > 0) return Refuse(model, "pooled_index", "Megatron-LM has no flag for");
  if (index.from_hidden || !model.FirstAttention().is_latent()) {
    return Refuse(model, "sparse_index", "Megatron-LM picks keys for latent attention, not for");
  }
  const LayerFlags has = FlagsOf(model, /*is_hybrid=*/false, [](const LayerGroup& group) {
    return group.attention.index.exists();
  });
  if (!IsTrueForAll(has)) {
    return Refuse(model, "sparse_index",
                  "Megatron-LM picks keys in all layers or in none, not for");
  }
  flags.push_back(absl::StrFormat(
      "--experimental-attention-variant dsa --dsa-indexer-n-heads %d --dsa-indexer-head-dim %d "
      "--dsa-indexer-topk %d",
      index.heads, index.head_dim, index.top_k));
  return AddSharedIndex(model, flags);
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
  flags.push_back("--qk-layernorm");  // the latents' norms
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

absl::Status AddAttention(const ModelSpec& model, const LayerKinds& kinds, bool is_hybrid,
                          std::vector<std::string>& flags) {
  if (kinds.attention == nullptr) return absl::OkStatus();
  const Attention& attention = *kinds.attention;
  if (attention.is_latent()) {
    if (is_hybrid) {
      return Refuse(model, "latent_attention",
                    "Megatron-LM's hybrids have no norms of latents for");
    }
    AddLatentAttention(attention, flags);
  } else {
    AddHeads(attention, flags);
  }
  if (attention.index.exists()) RETURN_IF_ERROR(AddIndex(model, attention.index, flags));
  if (attention.gate == AttentionGate::kWidth) flags.push_back("--attention-output-gate");
  if (attention.sinks) flags.push_back("--softmax-type learnable");
  if (kinds.window == 0) return absl::OkStatus();
  // Megatron-LM's window counts the tokens to the left of a query, without the query.
  flags.push_back(absl::StrFormat("--window-size %d,0", kinds.window - 1));
  const LayerFlags windowed =
      FlagsOf(model, is_hybrid, [](const LayerGroup& group) { return group.attention.window > 0; });
  if (!IsTrueForAll(windowed)) {
    flags.push_back("--window-attn-skip-freq '" + PythonList(windowed) + "'");
  }
  return absl::OkStatus();
}

// The constants of a clamped SwiGLU are those of the published runs.
void AddActivation(const Ffn& ffn, std::vector<std::string>& flags) {
  if (ffn.kind == FfnKind::kReluSquared) flags.push_back("--squared-relu");
  if (!ffn.gated()) return;
  flags.push_back(ffn.clamp == 0.0 ? "--swiglu"
                                   : absl::StrFormat("--quick-geglu --glu-linear-offset 1.0 "
                                                     "--activation-func-clamp-value %g",
                                                     ffn.clamp));
}

// Megatron-LM's linear layers, including the router's, either all have biases, or all but QKV's
// have none.
absl::Status AddBiases(const ModelSpec& model, const LayerKinds& kinds,
                       std::vector<std::string>& flags) {
  const Attention none_at_all;
  const Attention& attention = kinds.attention == nullptr ? none_at_all : *kinds.attention;
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
  return Refuse(model, "biases",
                "Megatron-LM has biases on all linear layers, on QKV alone or on none, not for");
}

// Megatron-LM's own defaults are 0.1.
void AddDropouts(const std::vector<std::string>& said, std::vector<std::string>& flags) {
  std::vector<std::string> unsaid;
  for (const std::string flag : {"--attention-dropout", "--hidden-dropout"}) {
    const bool is_said = std::any_of(said.begin(), said.end(), [&flag](const std::string& text) {
      return text.starts_with(flag);
    });
    if (!is_said) unsaid.push_back(flag + " 0.0");
  }
  if (!unsaid.empty()) flags.push_back(absl::StrJoin(unsaid, " "));
}

// Appends the flags for the properties that all layers have in common.
absl::Status AddEnds(const ModelSpec& model, int64_t seq_len, bool is_hybrid, AsideKeys& aside,
                     std::vector<std::string>& flags) {
  if (model.mtp_layers > 0 && !is_hybrid) {  // a hybrid's pattern says it
    flags.push_back(absl::StrCat("--mtp-num-layers ", model.mtp_layers));
  }
  flags.push_back(absl::StrFormat("--normalization RMSNorm --norm-epsilon %g", model.norm_epsilon));
  RETURN_IF_ERROR(AddPositions(model, is_hybrid, aside, flags));
  flags.push_back(
      absl::StrFormat("--seq-length %d --max-position-embeddings %d", seq_len, seq_len));
  flags.push_back(absl::StrFormat("--vocab-size %d --make-vocab-size-divisible-by %d", model.vocab,
                                  kVocabMultiple));
  return absl::OkStatus();
}

}  // namespace

absl::Status AddModel(const ModelSpec& model, int64_t seq_len, MegatronScript& script) {
  const std::optional<LayerKinds> kinds = KindsOf(model);
  if (!kinds) {
    return Refuse(
        model, kShapesPart,
        "Megatron-LM's layers differ in experts and windows alone, and it has no flag for");
  }
  const bool is_hybrid = IsHybrid(model);
  AsideKeys aside(model, KeyUser::kMegatron);
  auto& flags = script.flags;
  const Ffn* ffn = kinds->dense != nullptr ? kinds->dense : kinds->experts;
  std::string sizes = is_hybrid ? "" : absl::StrFormat("--num-layers %d ", model.layers());
  absl::StrAppend(&sizes, "--hidden-size ", model.hidden);
  if (ffn != nullptr) absl::StrAppend(&sizes, " --ffn-hidden-size ", ffn->hidden);
  flags.push_back(sizes);
  RETURN_IF_ERROR(AddAttention(model, *kinds, is_hybrid, flags));
  if (kinds->recurrence != nullptr) {
    RETURN_IF_ERROR(AddRecurrence(model, *kinds->recurrence, script));
  }
  if (ffn != nullptr) AddActivation(*ffn, flags);
  if (kinds->experts != nullptr) {
    RETURN_IF_ERROR(AddExperts(model, *kinds->experts, is_hybrid, aside, script));
  } else {  // a file may say how experts are weighed that it has not
    for (const char* name : {"norm_topk_prob", "moe_renormalize"}) aside.Take(name);
  }
  RETURN_IF_ERROR(AddEnds(model, seq_len, is_hybrid, aside, flags));
  RETURN_IF_ERROR(AddBiases(model, *kinds, flags));
  if (!model.tied_embeddings) flags.push_back("--untie-embeddings-and-output-weights");
  flags.push_back(absl::StrFormat("--init-method-std %g", model.initializer_range));
  RETURN_IF_ERROR(aside.CheckSaid("Megatron-LM has no flag for"));
  const std::vector<std::string> said = aside.Flags();
  flags.insert(flags.end(), said.begin(), said.end());
  AddDropouts(said, flags);
  return absl::OkStatus();
}

}  // namespace meshwright::planner

#include "planner/catalog/attention_config.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/json_text.h"
#include "base/text/status_macros.h"
#include "planner/catalog/key_rule.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;

// In DeepSeek-V4 a compressed key stands for this many tokens: kIndexedRatio if an index picks
// keys, and kWholeRatio if a query sees all compressed keys.
constexpr int64_t kIndexedRatio = 4;
constexpr int64_t kWholeRatio = 128;

int64_t HeadDim(JsonFields& fields, const Architecture& architecture, int64_t hidden,
                int64_t heads) {
  if (const auto given = fields.OptionalInt("head_dim")) return *given;
  if (architecture.head_dim) return *architecture.head_dim;
  if (heads > 0 && hidden % heads != 0 && !architecture.rounds_head_dim) {
    fields.Fail(FieldError(
        "num_attention_heads", heads,
        absl::StrCat("must divide hidden_size = ", hidden, " where head_dim is not given")));
  }
  return heads > 0 ? hidden / heads : 0;
}

// Queries and keys are as wide as their two parts, whatever head_dim says.
Attention ReadLatentAttention(JsonFields& fields) {
  Attention attention;
  for (const char* key : {"head_dim", "qk_head_dim"}) fields.Has(key);
  attention.kind = AttentionKind::kLatent;
  attention.heads = attention.kv_heads = fields.Int("num_attention_heads");
  fields.Has("num_key_value_heads");
  attention.query_rank = fields.IntOr("q_lora_rank", 0);
  attention.kv_rank = fields.Int("kv_lora_rank");
  attention.rotary_dim = fields.Int("qk_rope_head_dim");
  attention.head_dim = fields.Int("qk_nope_head_dim") + attention.rotary_dim;
  attention.value_dim = fields.Int("v_head_dim");
  return attention;
}

// All heads share one key.
Attention ReadCompressedAttention(JsonFields& fields) {
  fields.Has("num_key_value_heads");
  return {.kind = AttentionKind::kCompressed,
          .heads = fields.Int("num_attention_heads"),
          .kv_heads = 1,
          .head_dim = fields.Int("head_dim"),
          .sinks = true,
          .query_rank = fields.Int("q_lora_rank"),
          .rotary_dim = fields.Int("qk_rope_head_dim"),
          .output_groups = fields.Int("o_groups"),
          .output_rank = fields.Int("o_lora_rank")};
}

Attention ReadGroupedAttention(JsonFields& fields, const Architecture& architecture,
                               int64_t hidden) {
  Attention attention;
  attention.sinks = architecture.sinks;
  attention.heads = fields.Int("num_attention_heads");
  attention.kv_heads = fields.IntOr("num_key_value_heads", attention.heads);
  attention.kv_heads = architecture.kv_heads.value_or(attention.kv_heads);
  attention.head_dim = HeadDim(fields, architecture, hidden, attention.heads);
  attention.qkv_bias = architecture.qkv_bias;
  attention.qk_norm = architecture.qk_norm;
  attention.qk_norm_over_width = architecture.qk_norm_over_width;
  attention.output_bias = architecture.output_bias;
  attention.value_norm = architecture.value_norm;
  attention.relative_dim = fields.IntOr("d_rel", 0);
  if (attention.relative_dim > 0) {  // Inkling
    attention.relative_positions = fields.Int("rel_extent");
    attention.key_value_conv = fields.Int("conv_kernel_size");
  }
  attention.query_key_conv = fields.IntOr("cca_time0", 0);
  attention.head_conv = fields.IntOr("cca_time1", 0);
  const int64_t value_dim = fields.IntOr("v_head_dim", attention.head_dim);
  if (value_dim != attention.head_dim) attention.value_dim = value_dim;
  return attention;
}

// Returns the index of sparse attention. If the file has no index, the returned index does not
// exist.
SparseIndex ReadIndex(JsonFields& fields, const json& config, const Architecture& architecture) {
  SparseIndex index;
  if (config.contains("sparse_topk_blocks")) {  // MiniMax-M3 picks blocks of keys
    const int64_t blocks = fields.Int("sparse_topk_blocks");
    const int64_t block = fields.Int("sparse_block_size");
    fields.Fail(CheckRange("sparse_topk_blocks", blocks, 1, kMostLayers));
    fields.Fail(CheckRange("sparse_block_size", block, 1, kMostLayers));
    if (fields.status().ok()) index.top_k = blocks * block;
    index.from_hidden = true;
  } else if (const auto top_k = fields.OptionalInt("index_topk"); top_k) {
    fields.Fail(CheckRange("index_topk", *top_k, 1, int64_t{1} << 24));
    index.top_k = *top_k;
    index.from_hidden = architecture.index_from_hidden;
  } else {
    return index;
  }
  index.heads = fields.Int("index_n_heads");
  index.head_dim = fields.Int("index_head_dim");
  index.pooled_keys = fields.IntOr("index_kpool", 0);
  return index;
}

Attention ReadAttention(JsonFields& fields, const json& config, const Architecture& architecture,
                        int64_t hidden) {
  Attention attention = architecture.latent ? ReadLatentAttention(fields)
                        : architecture.compressed
                            ? ReadCompressedAttention(fields)
                            : ReadGroupedAttention(fields, architecture, hidden);
  attention.gate = architecture.attention_gate;
  attention.index = ReadIndex(fields, config, architecture);
  return attention;
}

// Sets how many tokens the compressed keys of each layer stand for. An index picks only among keys
// that stand for few tokens, because only these keys are numerous.
absl::Status SetRatios(JsonFields& fields, std::vector<Attention>& attentions) {
  constexpr const char* kKey = "compress_ratios";
  const json* ratios = fields.OptionalArray(kKey);
  RETURN_IF_ERROR(fields.status());
  const size_t listed = ratios == nullptr ? 0 : ratios->size();
  if (listed < attentions.size()) {
    return FieldError(
        kKey, static_cast<int64_t>(listed),
        absl::StrCat("must name the ratio of each of ", attentions.size(), " layers"));
  }
  for (size_t layer = 0; layer < attentions.size(); ++layer) {
    const json& ratio = (*ratios)[layer];
    if (ratio != 0 && ratio != kIndexedRatio && ratio != kWholeRatio) {
      return FieldError(kKey, ShowJson(ratio),
                        absl::StrCat("must be 0, ", kIndexedRatio, " or ", kWholeRatio));
    }
    attentions[layer].compress_ratio = ratio.get<int64_t>();
    if (ratio != kIndexedRatio) attentions[layer].index = {};
  }
  return absl::OkStatus();
}

// Returns the attention of layers with a window, which may have sizes of their own (MiMo-V2).
Attention LocalAttention(JsonFields& fields, const Attention& attention) {
  if (attention.is_latent() || attention.kind == AttentionKind::kCompressed) return attention;
  Attention local = attention;
  local.heads = fields.IntOr("swa_num_attention_heads", attention.heads);
  local.kv_heads = fields.IntOr("swa_num_key_value_heads", attention.kv_heads);
  local.head_dim = fields.IntOr("swa_head_dim", attention.head_dim);
  const int64_t values = fields.IntOr(
      "swa_v_head_dim", attention.value_dim > 0 ? attention.value_dim : local.head_dim);
  local.value_dim = values == local.head_dim ? 0 : values;
  local.sinks = fields.BoolOr("add_swa_attention_sink_bias", attention.sinks);
  if (local.relative_positions > 0) {  // no key is farther away than the window
    local.relative_positions = fields.IntOr("sliding_window", local.relative_positions);
  }
  return local;
}

// Returns the attention of layers without a window, which may have sizes of their own (Gemma 4).
Attention GlobalAttention(JsonFields& fields, const Attention& attention) {
  if (attention.kind == AttentionKind::kCompressed) return attention;
  Attention global = attention;
  global.sinks = fields.BoolOr("add_full_attention_sink_bias", attention.sinks);
  if (attention.is_latent()) return global;
  global.head_dim = fields.IntOr("global_head_dim", attention.head_dim);
  global.values_are_keys = fields.BoolOr("attention_k_eq_v", false);
  const int64_t key_heads = fields.IntOr("num_global_key_value_heads", attention.kv_heads);
  if (global.values_are_keys) global.kv_heads = key_heads;
  return global;
}

// Returns which layers use the keys that an earlier layer's indexer picked.
absl::StatusOr<std::vector<bool>> ReadSharedIndices(JsonFields& fields, int64_t layers) {
  const int64_t every = fields.IntOr("index_topk_freq", 1);
  const int64_t offset = fields.IntOr("index_skip_topk_offset", 2);
  RETURN_IF_ERROR(fields.status());
  RETURN_IF_ERROR(CheckRange("index_topk_freq", every, 1, kMostLayers));
  RETURN_IF_ERROR(CheckRange("index_skip_topk_offset", offset, 0, kMostLayers));
  std::vector<bool> shared;
  for (int64_t layer = 0; layer < layers; ++layer) {
    shared.push_back(std::max<int64_t>(layer - offset + 1, 0) % every != 0);
  }
  const std::string letters = fields.StringOr("index_topk_pattern", "");
  for (size_t layer = 0; layer < shared.size() && layer < letters.size(); ++layer) {
    shared[layer] = letters[layer] == 'S';
  }
  const json* types = fields.OptionalArray("indexer_types");
  RETURN_IF_ERROR(fields.status());
  if (types == nullptr || types->empty()) return shared;
  if (static_cast<int64_t>(types->size()) != layers) {
    return FieldError("indexer_types", static_cast<int64_t>(types->size()),
                      absl::StrCat("must name the indexer of each of ", layers, " layers"));
  }
  for (size_t layer = 0; layer < types->size(); ++layer) {
    const json& type = (*types)[layer];
    if (type != "full" && type != "shared") {
      return FieldError("indexer_types", ShowJson(type), "must be full or shared");
    }
    shared[layer] = type == "shared";
  }
  return shared;
}

// Mistral Large 4 may say that a layer reads the keys and values of another.
absl::Status CheckOwnKeys(JsonFields& fields, int64_t layers) {
  const json* sources = fields.OptionalArray("kv_source_layers");
  RETURN_IF_ERROR(fields.status());
  if (sources == nullptr) return absl::OkStatus();
  for (size_t layer = 0; layer < sources->size(); ++layer) {
    if ((*sources)[layer] == layer && static_cast<int64_t>(layer) < layers) continue;
    return FieldError(
        "kv_source_layers", ShowJson((*sources)[layer]),
        absl::StrCat(
            "layers that reuse another layer's keys and values are not planned yet; must be ",
            layer, " at layer ", layer));
  }
  return absl::OkStatus();
}

// Sets the index of each layer that has one, and takes it from the others.
absl::Status SetIndices(JsonFields& fields, const std::vector<LayerParts>& layers,
                        std::vector<Attention>& attentions) {
  const auto count = static_cast<int64_t>(layers.size());
  ASSIGN_OR_RETURN(const std::vector<bool> shared, ReadSharedIndices(fields, count));
  RETURN_IF_ERROR(CheckOwnKeys(fields, count));
  const json* switches = fields.OptionalArray("sparse_attention_freq");  // MiniMax-M3
  RETURN_IF_ERROR(fields.status());
  for (size_t layer = 0; layer < layers.size(); ++layer) {
    if (!attentions[layer].exists()) continue;
    const bool is_off = switches != nullptr && layer < switches->size() && (*switches)[layer] == 0;
    if (layers[layer].is_indexed && !is_off) {
      attentions[layer].index.shared = shared[layer];
    } else {
      attentions[layer].index = {};
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<Attention>> ReadAttentions(JsonFields& fields, const json& config,
                                                      const Architecture& architecture,
                                                      int64_t hidden, int64_t seq_len,
                                                      const std::vector<LayerParts>& layers) {
  const auto count = static_cast<int64_t>(layers.size());
  ASSIGN_OR_RETURN(const std::vector<LayerWindow> windows,
                   ReadLayerWindows(fields, config, architecture, count, seq_len));
  std::vector<Attention> attentions(layers.size(), kNoAttention);
  const bool any = std::any_of(layers.begin(), layers.end(),
                               [](const LayerParts& layer) { return layer.attention; });
  if (!any) {
    for (const char* key : {"num_attention_heads", "num_key_value_heads", "head_dim"}) {
      fields.Has(key);
    }
    return attentions;
  }
  // The heads of a shared block divide what it reads: hidden state and embedding.
  const int64_t inputs = architecture.shared_blocks ? 2 : 1;
  const Attention attention = ReadAttention(fields, config, architecture, inputs * hidden);
  const Attention global = GlobalAttention(fields, attention);
  const Attention local = LocalAttention(fields, attention);
  ASSIGN_OR_RETURN(const int64_t sharing, ReadSharingLayers(fields, count));
  for (size_t layer = 0; layer < layers.size(); ++layer) {
    if (!layers[layer].attention) continue;
    const LayerWindow& window = windows[layer];
    Attention& of_layer = attentions[layer];
    of_layer = window.is_local ? local : global;
    of_layer.window = window.tokens;
    of_layer.chunked = window.chunked;
    of_layer.shares_keys = static_cast<int64_t>(layer) >= count - sharing;
  }
  if (attention.index.exists()) RETURN_IF_ERROR(SetIndices(fields, layers, attentions));
  if (attention.kind == AttentionKind::kCompressed) {
    RETURN_IF_ERROR(SetRatios(fields, attentions));
  }
  RETURN_IF_ERROR(fields.status());
  return attentions;
}

absl::StatusOr<int64_t> ReadSharingLayers(JsonFields& fields, int64_t layers) {
  const int64_t sharing = fields.IntOr("num_kv_shared_layers", 0);
  RETURN_IF_ERROR(fields.status());
  RETURN_IF_ERROR(CheckRange("num_kv_shared_layers", sharing, 0, layers - 1));
  return sharing;
}

}  // namespace meshwright::planner

#include "planner/catalog/layer_groups.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/json_text.h"
#include "base/text/status_macros.h"
#include "planner/catalog/layer_windows.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;

int64_t WidthOf(JsonFields& fields, const Architecture& architecture, int64_t hidden) {
  const auto multiple = architecture.ffn_multiple;
  if (!multiple) return fields.Int(architecture.dense_width_key);
  return fields.IntOr("intermediate_size", fields.IntOr("ffn_multiple", *multiple) * hidden);
}

// Returns which layers have experts by a list that says so of each of them, under either name;
// empty where there is none.
absl::StatusOr<std::vector<bool>> ListedExpertLayers(JsonFields& fields, const json& config,
                                                     int64_t layers) {
  std::vector<bool> has;
  for (const char* key : {"mlp_layer_types", "moe_layer_freq"}) {
    const auto list = config.find(key);
    if (list == config.end() || !list->is_array() || !has.empty()) continue;
    fields.Has(key);
    if (static_cast<int64_t>(list->size()) != layers) {
      return FieldError(key, static_cast<int64_t>(list->size()),
                        absl::StrCat("must name the kind of each of ", layers, " layers"));
    }
    for (const json& kind : *list) {
      if (kind != "sparse" && kind != "dense" && kind != 0 && kind != 1) {
        return FieldError(key, ShowJson(kind), "must be dense or sparse, or 0 or 1");
      }
      has.push_back(kind == "sparse" || kind == 1);
    }
  }
  if (has.empty()) return has;
  for (const char* key :
       {"first_k_dense_replace", "moe_layer_end_index", "decoder_sparse_step", "mlp_only_layers"}) {
    fields.Has(key);
  }
  return has;
}

// Returns which layers have experts, by the keys of all families: those of a list, all but the
// first few, every n-th, or all but those of a list.
absl::StatusOr<std::vector<bool>> ExpertLayers(JsonFields& fields, const json& config,
                                               int64_t layers) {
  ASSIGN_OR_RETURN(std::vector<bool> listed, ListedExpertLayers(fields, config, layers));
  if (!listed.empty()) return listed;
  const int64_t first = fields.IntOr("first_k_dense_replace", 0);
  const int64_t last = fields.IntOr("moe_layer_end_index", layers - 1);
  const int64_t every = fields.IntOr("moe_layer_freq", 1);
  const int64_t step = fields.IntOr("decoder_sparse_step", 1);
  RETURN_IF_ERROR(fields.status());
  RETURN_IF_ERROR(CheckRange("moe_layer_freq", every, 1, kMostLayers));
  RETURN_IF_ERROR(CheckRange("decoder_sparse_step", step, 1, kMostLayers));
  std::vector<bool> has(static_cast<size_t>(layers));
  for (int64_t i = 0; i < layers; ++i) {
    has[static_cast<size_t>(i)] =
        i >= first && (last < 0 || i <= last) && i % every == 0 && (i + 1) % step == 0;
  }
  const auto set = [&](const char* key, bool value) -> absl::Status {
    const json* list = fields.OptionalArray(key);
    if (list == nullptr) return absl::OkStatus();
    for (const json& layer : *list) {
      if (!layer.is_number_integer() || layer < 0 || layer >= layers) {
        return FieldError(key, ShowJson(layer), "must be a layer's number, counted from 0");
      }
      has[layer.get<size_t>()] = value;
    }
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(set("mlp_only_layers", false));
  if (const json* list = fields.OptionalArray("moe_layers"); list != nullptr && !list->empty()) {
    std::fill(has.begin(), has.end(), false);
    RETURN_IF_ERROR(set("moe_layers", true));
  }
  return has;
}

Ffn ReadExpertFfn(JsonFields& fields, const Architecture& architecture) {
  Ffn ffn{.kind = architecture.ffn,
          .hidden = fields.Int(architecture.expert_width_key),
          .bias = architecture.ffn_bias};
  if (architecture.clamped_swiglu) ffn.clamp = fields.NumberOr("swiglu_limit", 7.0);
  Experts& experts = ffn.experts;
  experts.count = fields.Int("num_experts");
  experts.top_k = fields.Int("num_experts_per_tok");
  experts.shared_hidden =
      fields.IntOr("shared_expert_intermediate_size",
                   fields.IntOr("n_shared_experts", architecture.shared_experts) * ffn.hidden);
  experts.shared_gate = architecture.shared_gate && experts.shared_hidden > 0;
  experts.score = architecture.router_score;
  experts.router_bias = architecture.router_bias;
  experts.selection_bias = architecture.selection_bias;
  if (experts.selection_bias) {
    experts.bias_update_rate =
        fields.NumberOr("moe_router_bias_update_rate", experts.bias_update_rate);
  }
  experts.capacity_factor = fields.NumberOr("moe_expert_capacity_factor", 0.0);
  experts.balance_loss =
      fields.NumberOr("router_aux_loss_coef", fields.NumberOr("aux_loss_alpha", 0.0));
  experts.z_loss = fields.NumberOr("router_z_loss_coef", 0.0);
  // Without a limit a token's experts may be in all groups.
  const int64_t groups = fields.IntOr("n_group", 1);
  const int64_t top_groups = fields.IntOr("topk_group", groups);
  if (groups > 1 && top_groups < groups) {
    experts.groups = groups;
    experts.top_groups = top_groups;
  }
  return ffn;
}

// Returns the attention of layers with a window, which may have sizes of their own (MiMo-V2).
Attention LocalAttention(JsonFields& fields, const Attention& attention) {
  if (attention.is_latent()) return attention;
  Attention local = attention;
  local.heads = fields.IntOr("swa_num_attention_heads", attention.heads);
  local.kv_heads = fields.IntOr("swa_num_key_value_heads", attention.kv_heads);
  local.head_dim = fields.IntOr("swa_head_dim", attention.head_dim);
  const int64_t values = fields.IntOr(
      "swa_v_head_dim", attention.value_dim > 0 ? attention.value_dim : local.head_dim);
  local.value_dim = values == local.head_dim ? 0 : values;
  local.sinks = fields.BoolOr("add_swa_attention_sink_bias", attention.sinks);
  return local;
}

void AddLayer(const LayerGroup& layer, std::vector<LayerGroup>& groups) {
  if (!groups.empty() && groups.back().attention == layer.attention &&
      groups.back().ffn == layer.ffn) {
    ++groups.back().count;
  } else {
    groups.push_back(layer);
  }
}

}  // namespace

absl::StatusOr<std::vector<LayerGroup>> ReadLayerGroups(JsonFields& fields, const json& config,
                                                        const Architecture& architecture,
                                                        const Attention& attention, int64_t hidden,
                                                        int64_t seq_len) {
  const int64_t layers = fields.Int("num_hidden_layers");
  RETURN_IF_ERROR(fields.status());
  RETURN_IF_ERROR(CheckRange("num_hidden_layers", layers, 1, kMostLayers));
  ASSIGN_OR_RETURN(const std::vector<LayerWindow> windows,
                   ReadLayerWindows(fields, config, architecture, layers, seq_len));
  Attention global = attention;
  global.sinks = fields.BoolOr("add_full_attention_sink_bias", attention.sinks);
  const Attention local = LocalAttention(fields, attention);
  std::vector<bool> has_experts(static_cast<size_t>(layers), false);
  Ffn experts;
  if (architecture.has_experts) {
    ASSIGN_OR_RETURN(has_experts, ExpertLayers(fields, config, layers));
    experts = ReadExpertFfn(fields, architecture);
  }
  Ffn dense;
  const bool all_have = std::all_of(has_experts.begin(), has_experts.end(), std::identity());
  if (!all_have) {
    dense = {.kind = architecture.ffn,
             .hidden = WidthOf(fields, architecture, hidden),
             .bias = architecture.ffn_bias};
  } else {
    fields.Has(architecture.dense_width_key);
  }
  RETURN_IF_ERROR(fields.status());
  std::vector<LayerGroup> groups;
  for (int64_t i = 0; i < layers; ++i) {
    const LayerWindow& window = windows[static_cast<size_t>(i)];
    LayerGroup layer = {.attention = window.is_local ? local : global,
                        .ffn = has_experts[static_cast<size_t>(i)] ? experts : dense,
                        .count = 1};
    layer.attention.window = window.tokens;
    layer.attention.chunked = window.chunked;
    AddLayer(layer, groups);
  }
  return groups;
}

}  // namespace meshwright::planner

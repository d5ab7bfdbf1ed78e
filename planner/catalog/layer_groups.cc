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

namespace meshwright::planner {
namespace {

using nlohmann::json;

// Far above every model; it keeps a file from requesting more than memory holds.
constexpr int64_t kMostLayers = 1 << 14;

// The keys that a layer's queries see: the newest tokens, or those of their own chunk; 0: all.
struct Window {
  int64_t tokens = 0;
  bool chunked = false;
};

using Windows = std::function<Window(int64_t layer)>;

// Returns 0 where the window is not shorter than the sequence.
absl::StatusOr<int64_t> ShorterThan(int64_t seq_len, std::string_view key,
                                    std::optional<int64_t> tokens) {
  if (!tokens) return 0;
  if (*tokens < 1) return FieldError(key, *tokens, "must be at least 1");
  return *tokens < seq_len ? *tokens : 0;
}

absl::StatusOr<Windows> WindowsByType(const json& types, const Window& sliding, const Window& chunk,
                                      int64_t layers) {
  if (static_cast<int64_t>(types.size()) != layers) {
    return FieldError("layer_types", static_cast<int64_t>(types.size()),
                      absl::StrCat("must name the kind of each of ", layers, " layers"));
  }
  std::vector<Window> windows;
  for (const json& type : types) {
    if (type == "sliding_attention") {
      windows.push_back(sliding);
    } else if (type == "chunked_attention") {
      windows.push_back(chunk);
    } else if (type == "full_attention") {
      windows.emplace_back();
    } else {
      return FieldError("layer_types", ShowJson(type),
                        "layers of this kind are not planned yet; must be full_attention, "
                        "sliding_attention or chunked_attention");
    }
  }
  return Windows([windows = std::move(windows)](int64_t layer) {
    return windows[static_cast<size_t>(layer)];
  });
}

// Llama 4 attends within chunks where it rotates queries and keys, which every n-th layer does not.
absl::StatusOr<Windows> ChunksOf(JsonFields& fields, const Window& chunk, int64_t layers) {
  const int64_t interval = fields.IntOr("no_rope_layer_interval", 4);
  RETURN_IF_ERROR(CheckRange("no_rope_layer_interval", interval, 1, kMostLayers));
  const json* turns = fields.OptionalArray("no_rope_layers");
  if (turns == nullptr || turns->empty()) {
    return Windows([=](int64_t layer) { return (layer + 1) % interval != 0 ? chunk : Window(); });
  }
  if (static_cast<int64_t>(turns->size()) != layers) {
    return FieldError("no_rope_layers", static_cast<int64_t>(turns->size()),
                      absl::StrCat("must say of each of ", layers, " layers whether it turns"));
  }
  std::vector<Window> windows;
  for (const json& layer : *turns) windows.push_back(layer == 0 ? Window() : chunk);
  return Windows([windows = std::move(windows)](int64_t layer) {
    return windows[static_cast<size_t>(layer)];
  });
}

absl::StatusOr<Windows> ReadWindows(JsonFields& fields, const Architecture& architecture,
                                    int64_t layers, int64_t seq_len) {
  ASSIGN_OR_RETURN(const int64_t tokens,
                   ShorterThan(seq_len, "sliding_window", fields.OptionalInt("sliding_window")));
  ASSIGN_OR_RETURN(
      const int64_t chunk_tokens,
      ShorterThan(seq_len, "attention_chunk_size", fields.OptionalInt("attention_chunk_size")));
  const bool used = fields.BoolOr("use_sliding_window", !architecture.window_needs_switch);
  const int64_t from =
      fields.IntOr("max_window_layers", architecture.window_needs_switch ? layers : 0);
  const Window sliding = {.tokens = used ? tokens : 0};
  const Window chunk = {.tokens = chunk_tokens, .chunked = chunk_tokens > 0};
  const json* types = fields.OptionalArray("layer_types");
  if (types != nullptr) return WindowsByType(*types, sliding, chunk, layers);
  if (chunk_tokens > 0) return ChunksOf(fields, chunk, layers);
  if (architecture.windows_alternate) {
    return Windows([=](int64_t layer) { return layer % 2 == 0 ? sliding : Window(); });
  }
  const bool in_part = architecture.window_needs_switch;
  return Windows([=](int64_t layer) { return in_part && layer < from ? Window() : sliding; });
}

int64_t WidthOf(JsonFields& fields, const Architecture& architecture, int64_t hidden) {
  const auto multiple = architecture.ffn_multiple;
  if (!multiple) return fields.Int(architecture.dense_width_key);
  return fields.IntOr("intermediate_size", fields.IntOr("ffn_multiple", *multiple) * hidden);
}

// Returns which layers have experts, by the keys of all families: all but the first few, every
// n-th, all but those of a list, or those of a list.
absl::StatusOr<std::vector<bool>> ExpertLayers(JsonFields& fields, int64_t layers) {
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

}  // namespace

absl::StatusOr<std::vector<LayerGroup>> ReadLayerGroups(JsonFields& fields,
                                                        const Architecture& architecture,
                                                        const Attention& attention, int64_t hidden,
                                                        int64_t seq_len) {
  const int64_t layers = fields.Int("num_hidden_layers");
  RETURN_IF_ERROR(fields.status());
  RETURN_IF_ERROR(CheckRange("num_hidden_layers", layers, 1, kMostLayers));
  ASSIGN_OR_RETURN(const Windows windows, ReadWindows(fields, architecture, layers, seq_len));
  std::vector<bool> has_experts(static_cast<size_t>(layers), false);
  Ffn experts;
  if (architecture.has_experts) {
    ASSIGN_OR_RETURN(has_experts, ExpertLayers(fields, layers));
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
    LayerGroup layer = {.attention = attention,
                        .ffn = has_experts[static_cast<size_t>(i)] ? experts : dense,
                        .count = 1};
    const Window window = windows(i);
    layer.attention.window = window.tokens;
    layer.attention.chunked = window.chunked;
    if (!groups.empty() && groups.back().attention == layer.attention &&
        groups.back().ffn == layer.ffn) {
      ++groups.back().count;
    } else {
      groups.push_back(layer);
    }
  }
  return groups;
}

}  // namespace meshwright::planner

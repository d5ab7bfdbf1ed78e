#include "planner/catalog/ffn_config.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/text/field_error.h"
#include "base/text/json_text.h"
#include "base/text/status_macros.h"
#include "planner/catalog/attention_config.h"
#include "planner/catalog/key_rule.h"
#include "planner/catalog/layer_windows.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;

constexpr int64_t kWidestFfn = int64_t{1} << 21;

// LFM2's width is two thirds of what the file says, rounded up.
int64_t AdjustedWidth(JsonFields& fields, int64_t width) {
  const double times = fields.NumberOr("block_ffn_dim_multiplier", 1.0);
  const int64_t multiple = fields.IntOr("block_multiple_of", 256);
  fields.Fail(CheckPositive("block_ffn_dim_multiplier", times));
  fields.Fail(CheckRange("block_multiple_of", multiple, 1, kWidestFfn));
  fields.Fail(CheckRange("intermediate_size", width, 1, kWidestFfn));
  if (!fields.status().ok()) return width;
  const double narrowed = std::floor(times * static_cast<double>(2 * width / 3));
  if (narrowed > static_cast<double>(kWidestFfn)) return width;
  const auto adjusted = static_cast<int64_t>(narrowed);
  return (adjusted + multiple - 1) / multiple * multiple;
}

int64_t WidthOf(JsonFields& fields, const Architecture& architecture, int64_t hidden) {
  const auto multiple = architecture.ffn_multiple;
  for (const char* key : {"block_ffn_dim_multiplier", "block_multiple_of"}) fields.Has(key);
  if (!multiple) {
    const int64_t width = fields.Int(architecture.dense_width_key) / architecture.ffn_divisor;
    return fields.BoolOr("block_auto_adjust_ff_dim", false) ? AdjustedWidth(fields, width) : width;
  }
  return fields.IntOr("intermediate_size", fields.IntOr("ffn_multiple", *multiple) * hidden);
}

// Returns which layers have experts, from the list of layers under either of its names; empty if
// the file has no such list.
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
      const bool is_sparse = kind == "sparse" || kind == "moe" || kind == "hash_moe" || kind == 1;
      if (!is_sparse && kind != "dense" && kind != 0) {
        return FieldError(key, ShowJson(kind), "must be dense, sparse, moe or hash_moe, or 0 or 1");
      }
      has.push_back(is_sparse);
    }
  }
  if (has.empty()) return has;
  for (const char* key : {"first_k_dense_replace", "moe_layer_end_index", "decoder_sparse_step",
                          "mlp_only_layers", "moe_layer_freq"}) {
    fields.Has(key);
  }
  return has;
}

// Returns the layers that a text of numbers with commas names (Step-3.5).
absl::StatusOr<std::vector<bool>> LayersIn(const std::string& numbers, int64_t layers) {
  std::vector<bool> named(static_cast<size_t>(layers), false);
  const std::vector<std::string> items = absl::StrSplit(numbers, ',');
  for (const std::string& number : items) {
    int64_t layer = 0;
    if (!absl::SimpleAtoi(number, &layer) || layer < 0 || layer >= layers) {
      return FieldError("moe_layers_enum", ShortenedName(number),
                        "must be layers' numbers, counted from 0, with commas between them");
    }
    named[static_cast<size_t>(layer)] = true;
  }
  return named;
}

// Returns which layers have experts, by the keys of all families: the layers in a list, all layers
// except the first few, every n-th layer, or all layers except the layers in a list.
absl::StatusOr<std::vector<bool>> ExpertLayers(JsonFields& fields, const json& config,
                                               int64_t layers) {
  ASSIGN_OR_RETURN(std::vector<bool> listed, ListedExpertLayers(fields, config, layers));
  if (!listed.empty()) return listed;
  const int64_t first = fields.IntOr("first_k_dense_replace", 0);
  const int64_t last = fields.IntOr("moe_layer_end_index", layers - 1);
  const int64_t every = fields.IntOr("moe_layer_freq", 1);
  const int64_t step = fields.IntOr("decoder_sparse_step", 1);
  const int64_t period = fields.IntOr("expert_layer_period", 1);  // Jamba
  const int64_t offset = fields.IntOr("expert_layer_offset", 0);
  RETURN_IF_ERROR(fields.status());
  RETURN_IF_ERROR(CheckRange("moe_layer_freq", every, 1, kMostLayers));
  RETURN_IF_ERROR(CheckRange("decoder_sparse_step", step, 1, kMostLayers));
  RETURN_IF_ERROR(CheckRange("expert_layer_period", period, 1, kMostLayers));
  RETURN_IF_ERROR(CheckRange("expert_layer_offset", offset, 0, period - 1));
  std::vector<bool> has(static_cast<size_t>(layers));
  for (int64_t i = 0; i < layers; ++i) {
    has[static_cast<size_t>(i)] = i >= first && (last < 0 || i <= last) && i % every == 0 &&
                                  (i + 1) % step == 0 && i % period == offset;
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
  if (const std::string numbers = fields.StringOr("moe_layers_enum", ""); !numbers.empty()) {
    return LayersIn(numbers, layers);
  }
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
  if (architecture.dense_beside_experts) experts.shared_hidden = fields.Int("intermediate_size");
  experts.shared_gate = architecture.shared_gate && experts.shared_hidden > 0;
  experts.score = architecture.router_score;
  experts.latent = fields.IntOr("moe_latent_size", fields.IntOr("moe_hidden_size", 0));
  experts.latent_norms = architecture.latent_norms && experts.latent > 0;
  experts.router_bias = architecture.router_bias;
  experts.router_hidden = fields.IntOr("router_hidden_size", 0);
  if (experts.router_hidden > 0) experts.router_extra = 1;  // Zaya: no expert
  if (fields.BoolOr("shared_expert_sink", false)) {         // Inkling
    experts.router_extra = fields.IntOr("n_shared_experts", 0);
  }
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

// Returns which layers have an FFN of experts.
absl::StatusOr<std::vector<bool>> WhereExpertsAre(JsonFields& fields, const json& config,
                                                  const Architecture& architecture,
                                                  const std::vector<LayerParts>& layers) {
  std::vector<bool> has(layers.size(), false);
  if (SaysWhichHaveExperts(layers)) {
    for (size_t layer = 0; layer < layers.size(); ++layer) {
      has[layer] = layers[layer].is_expert_layer;
    }
    return has;
  }
  if (!architecture.has_experts) return has;
  ASSIGN_OR_RETURN(has, ExpertLayers(fields, config, static_cast<int64_t>(layers.size())));
  for (size_t layer = 0; layer < layers.size(); ++layer) {
    has[layer] = has[layer] && layers[layer].ffn;
  }
  return has;
}

}  // namespace

absl::StatusOr<std::vector<Ffn>> ReadFfns(JsonFields& fields, const json& config,
                                          const Architecture& architecture, int64_t hidden,
                                          const std::vector<LayerParts>& layers) {
  ASSIGN_OR_RETURN(const std::vector<bool> has_experts,
                   WhereExpertsAre(fields, config, architecture, layers));
  bool any_experts = architecture.has_experts;
  bool any_dense = false;
  for (size_t layer = 0; layer < layers.size(); ++layer) {
    any_experts = any_experts || has_experts[layer];
    any_dense = any_dense || (layers[layer].ffn && !has_experts[layer]);
  }
  const Ffn experts = any_experts ? ReadExpertFfn(fields, architecture) : kNoFfn;
  Ffn dense;
  if (any_dense) {
    dense = {.kind = architecture.ffn,
             .hidden = WidthOf(fields, architecture, hidden),
             .bias = architecture.ffn_bias};
  } else {
    fields.Has(architecture.dense_width_key);
  }
  fields.Has("intermediate_size");  // of families with another key for dense layers
  const auto count = static_cast<int64_t>(layers.size());
  ASSIGN_OR_RETURN(const int64_t sharing, ReadSharingLayers(fields, count));
  const bool is_double = fields.BoolOr("use_double_wide_mlp", false);  // of sharing layers
  RETURN_IF_ERROR(fields.status());
  std::vector<Ffn> ffns(layers.size(), kNoFfn);
  for (size_t layer = 0; layer < layers.size(); ++layer) {
    if (!layers[layer].ffn) continue;
    ffns[layer] = has_experts[layer] ? experts : dense;
    const bool is_wide = is_double && static_cast<int64_t>(layer) >= count - sharing;
    if (is_wide && ffns[layer].hidden <= kWidestFfn) ffns[layer].hidden *= 2;
  }
  return ffns;
}

}  // namespace meshwright::planner

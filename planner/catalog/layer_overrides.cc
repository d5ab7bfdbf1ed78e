#include "planner/catalog/layer_overrides.h"

#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/json_text.h"
#include "base/text/status_macros.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;

constexpr const char* kOverrides = "per_layer_config";
constexpr const char* kHeads = "num_attention_heads_per_layer";

absl::Status OverrideHeads(JsonFields& fields, std::vector<Attention>& attentions) {
  if (!fields.Has(kHeads)) return absl::OkStatus();
  const json* list = fields.OptionalArray(kHeads);
  RETURN_IF_ERROR(fields.status());
  if (list->size() != attentions.size()) {
    return FieldError(kHeads, static_cast<int64_t>(list->size()),
                      absl::StrCat("must say the heads of each of ", attentions.size(), " layers"));
  }
  for (size_t layer = 0; layer < attentions.size(); ++layer) {
    const json& heads = (*list)[layer];
    if (!heads.is_number_integer()) {
      return FieldError(kHeads, ShowJson(heads), "must be a whole number for each layer");
    }
    if (attentions[layer].exists()) attentions[layer].heads = heads.get<int64_t>();
  }
  return absl::OkStatus();
}

// Reads the sizes of one layer's object; those that it lacks stay as they are.
absl::Status OverrideLayer(const std::string& prefix, const json& sizes, Attention& attention,
                           Ffn& ffn) {
  JsonFields fields(sizes, prefix);
  attention.heads = fields.IntOr("num_attention_heads", attention.heads);
  attention.kv_heads = fields.IntOr("num_key_value_heads", attention.kv_heads);
  if (attention.is_latent()) {
    attention.kv_heads = attention.heads;
    attention.kv_rank = fields.IntOr("kv_lora_rank", attention.kv_rank);
    const int64_t rotary = fields.IntOr("qk_rope_head_dim", attention.rotary_dim);
    const int64_t other =
        fields.IntOr("qk_nope_head_dim", attention.head_dim - attention.rotary_dim);
    attention.rotary_dim = rotary;
    attention.head_dim = rotary + other;
    attention.value_dim = fields.IntOr("v_head_dim", attention.value_dim);
  } else {
    attention.head_dim = fields.IntOr("head_dim", attention.head_dim);
  }
  if (!ffn.has_experts()) ffn.hidden = fields.IntOr("intermediate_size", ffn.hidden);
  RETURN_IF_ERROR(fields.status());
  for (const std::string& key : fields.UnaskedKeys()) {
    return FieldError(prefix + key, ShowJson(sizes.at(key)),
                      "not planned yet for single layers; must be absent");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ApplyLayerOverrides(JsonFields& fields, std::vector<Attention>& attentions,
                                 std::vector<Ffn>& ffns) {
  RETURN_IF_ERROR(OverrideHeads(fields, attentions));
  if (!fields.Has(kOverrides)) return absl::OkStatus();
  const json& overrides = fields.Object(kOverrides);
  RETURN_IF_ERROR(fields.status());
  for (const auto& [name, sizes] : overrides.items()) {
    size_t layer = 0;
    if (!absl::SimpleAtoi(name, &layer) || layer >= attentions.size() || !sizes.is_object()) {
      return FieldError(absl::StrCat(kOverrides, ".", name), ShowJson(sizes),
                        "must be a layer's number, counted from 0, with an object of sizes");
    }
    RETURN_IF_ERROR(OverrideLayer(absl::StrCat(kOverrides, ".", name, "."), sizes,
                                  attentions[layer], ffns[layer]));
  }
  return absl::OkStatus();
}

}  // namespace meshwright::planner

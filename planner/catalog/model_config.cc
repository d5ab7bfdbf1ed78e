#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "planner/catalog/catalog.h"
#include "planner/catalog/json_fields.h"
#include "planner/catalog/json_text.h"
#include "planner/spec/field_error.h"
#include "planner/spec/status_macros.h"

namespace meshwright {
namespace {

using nlohmann::json;

// A config that has one of these keys above the bound is not a dense model with grouped-query
// attention.
struct RefusedKey {
  std::string_view key;
  int64_t allowed;  // largest harmless value
  std::string_view problem;
};

constexpr std::string_view kNoExperts =
    "mixture-of-experts models are not supported; dense models are";
constexpr std::string_view kNoLatent =
    "latent attention is not supported; grouped-query attention is";

constexpr std::array<RefusedKey, 6> kRefusedKeys = {{
    {"num_local_experts", 1, kNoExperts},
    {"num_experts", 1, kNoExperts},
    {"n_routed_experts", 1, kNoExperts},
    {"moe_intermediate_size", 0, kNoExperts},
    {"kv_lora_rank", 0, kNoLatent},
    {"q_lora_rank", 0, kNoLatent},
}};

constexpr std::array<std::string_view, 4> kFamilies = {"llama", "mistral", "qwen2", "qwen3"};

bool IsQwen(std::string_view family) { return family == "qwen2" || family == "qwen3"; }

absl::Status CheckFamily(std::string_view family) {
  if (std::find(kFamilies.begin(), kFamilies.end(), family) != kFamilies.end()) {
    return absl::OkStatus();
  }
  return FieldError("model_type", family, "must be llama, mistral, qwen2 or qwen3");
}

// A window at least as long as the sequence changes nothing.
absl::Status CheckWindow(JsonFields& fields, std::string_view family, const json& config,
                         int64_t seq_len) {
  const auto window = fields.OptionalInt("sliding_window");
  const bool used = fields.BoolOr("use_sliding_window", !IsQwen(family));
  if (window && used && *window < seq_len) {
    return FieldError(
        "sliding_window", *window,
        absl::StrCat("sliding-window attention is not supported; a window of at least "
                     "the sequence length ",
                     seq_len, " is"));
  }
  const auto types = config.find("layer_types");
  if (types == config.end() || !types->is_array()) return absl::OkStatus();
  for (const json& type : *types) {
    if (type == "full_attention") continue;
    if (type == "sliding_attention" && window && *window >= seq_len) continue;
    return FieldError("layer_types", ShowJson(type), "must be full_attention for every layer");
  }
  return absl::OkStatus();
}

absl::Status CheckRefused(JsonFields& fields, std::string_view family, const json& config,
                          int64_t seq_len) {
  RETURN_IF_ERROR(CheckFamily(family));
  for (const RefusedKey& refused : kRefusedKeys) {
    const auto value = fields.OptionalInt(refused.key);
    if (value && *value > refused.allowed) {
      return FieldError(refused.key, *value, refused.problem);
    }
  }
  for (const std::string_view key : {"attention_bias", "mlp_bias"}) {
    if (fields.BoolOr(key, false)) {
      return FieldError(key, "true", "biases of this kind are not supported; false is");
    }
  }
  const std::string activation = fields.StringOr("hidden_act", "silu");
  if (activation != "silu") return FieldError("hidden_act", activation, "must be silu");
  return CheckWindow(fields, family, config, seq_len);
}

int64_t HeadDim(JsonFields& fields, const ModelSpec& model, std::string_view family) {
  if (const auto given = fields.OptionalInt("head_dim")) return *given;
  if (family == "qwen3") return 128;
  if (model.heads > 0 && model.hidden % model.heads != 0) {
    fields.Fail(FieldError(
        "num_attention_heads", model.heads,
        absl::StrCat("must divide hidden_size = ", model.hidden, " where head_dim is not given")));
  }
  return model.heads > 0 ? model.hidden / model.heads : 0;
}

// Newer files keep the base inside rope_parameters.
double RopeTheta(JsonFields& fields, const json& config) {
  const auto parameters = config.find("rope_parameters");
  if (!fields.Has("rope_theta") && parameters != config.end() && parameters->is_object()) {
    JsonFields rope(*parameters, "rope_parameters.");
    const double theta = rope.NumberOr("rope_theta", 10000.0);
    fields.Fail(rope.status());
    return theta;
  }
  return fields.NumberOr("rope_theta", 10000.0);
}

}  // namespace

absl::StatusOr<ModelSpec> ModelFromConfig(std::string_view name, std::string_view text,
                                          int64_t seq_len) {
  ASSIGN_OR_RETURN(const json config, ParseJsonObject("model", text));
  JsonFields fields(config);
  const std::string family = fields.StringOr("model_type", "llama");
  RETURN_IF_ERROR(CheckRefused(fields, family, config, seq_len));

  ModelSpec model;
  model.name = name;
  model.hidden = fields.Int("hidden_size");
  model.heads = fields.Int("num_attention_heads");
  model.kv_heads = fields.IntOr("num_key_value_heads", model.heads);
  model.head_dim = HeadDim(fields, model, family);
  model.vocab = fields.Int("vocab_size");
  model.tied_embeddings = fields.BoolOr("tie_word_embeddings", false);
  model.qkv_bias = family == "qwen2";
  model.qk_norm = family == "qwen3";
  model.norm_epsilon = fields.NumberOr("rms_norm_eps", 1e-5);
  model.rope_theta = RopeTheta(fields, config);
  model.groups.push_back(
      {.ffn_hidden = fields.Int("intermediate_size"), .count = fields.Int("num_hidden_layers")});
  RETURN_IF_ERROR(fields.status());
  RETURN_IF_ERROR(Validate(model));
  return model;
}

}  // namespace meshwright

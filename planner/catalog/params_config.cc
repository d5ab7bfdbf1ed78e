#include "planner/catalog/params_config.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/json_text.h"
#include "base/text/status_macros.h"
#include "planner/catalog/key_rule.h"
#include "planner/catalog/python_json.h"
#include "planner/codec/json_fields.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;

constexpr int64_t kMostSize = int64_t{1} << 30;
constexpr double kMostMultiplier = 1000.0;
constexpr int64_t kLlamaMultipleOf = 256;
// The vocabulary of Llama 1 and 2, whose files leave it to the tokenizer (vocab_size = -1).
constexpr int64_t kLlamaVocab = 32000;

// Keys of how a model is run, and of parts whose planning their value does not change.
constexpr std::array<const char*, 6> kWithoutEffect = {
    "max_batch_size", "max_seq_len", "model_type", "causal", "dropout", "rope_scaling_factor"};

int64_t ReadSize(JsonFields& fields, const char* key) {
  const int64_t size = fields.Int(key);
  if (fields.status().ok()) fields.Fail(CheckRange(key, size, 1, kMostSize));
  return size;
}

int64_t ReadSizeOr(JsonFields& fields, const char* key, int64_t fallback) {
  return fields.Has(key) ? ReadSize(fields, key) : fallback;
}

// The FFN's width as Llama's code computes it.
int64_t LlamaFfnWidth(JsonFields& fields, int64_t dim) {
  const int64_t multiple_of = ReadSizeOr(fields, "multiple_of", kLlamaMultipleOf);
  const double multiplier = fields.NumberOr("ffn_dim_multiplier", 1.0);
  if (!(multiplier > 0.0) || multiplier > kMostMultiplier) {
    fields.Fail(FieldError("ffn_dim_multiplier", absl::StrCat(multiplier),
                           absl::StrCat("must be above 0 and at most ", kMostMultiplier)));
  }
  if (!fields.status().ok()) return 0;
  const auto width = static_cast<int64_t>(multiplier * static_cast<double>(2 * 4 * dim / 3));
  return (width + multiple_of - 1) / multiple_of * multiple_of;
}

void ReadParamsFfn(JsonFields& fields, int64_t dim, json& config) {
  const bool says_width = fields.Has("hidden_dim");
  const int64_t width = says_width ? ReadSize(fields, "hidden_dim") : LlamaFfnWidth(fields, dim);
  if (says_width) {
    for (const char* key : {"multiple_of", "ffn_dim_multiplier"}) fields.Has(key);
  }
  config["intermediate_size"] = width;
  if (!fields.Has("moe")) return;
  JsonFields moe(fields.Object("moe"), "moe.");
  config["model_type"] = "mixtral";
  config["num_local_experts"] = ReadSize(moe, "num_experts");
  config["num_experts_per_tok"] = ReadSize(moe, "num_experts_per_tok");
  moe.RefuseUnknownKeys();
  fields.Fail(moe.status());
}

void ReadParamsVocab(JsonFields& fields, ParamsConfig& params, json& config) {
  const bool tokenizer_says = fields.IntOr("vocab_size", -1) == -1;
  config["vocab_size"] = tokenizer_says ? kLlamaVocab : ReadSize(fields, "vocab_size");
  if (!tokenizer_says) return;
  params.notes.push_back(
      absl::StrCat("params.json leaves vocab_size to the tokenizer; planned with the ", kLlamaVocab,
                   " tokens of Llama 1 and 2"));
}

void ReadParamsPositions(JsonFields& fields, json& config) {
  const bool is_mistral = config["model_type"] != "llama" || fields.Has("hidden_dim");
  const bool has_window = fields.Has("sliding_window");
  if (has_window) {
    config["sliding_window"] = ReadSize(fields, "sliding_window");
    if (config["model_type"] == "llama") config["model_type"] = "mistral";
  }
  // If the file does not state the base, this is the default in the code of Llama and Mistral.
  const double theta = is_mistral && !has_window ? 1e6 : 1e4;
  config["rope_theta"] = fields.NumberOr("rope_theta", theta);
  if (const auto context = fields.OptionalInt("max_position_embeddings")) {
    config["max_position_embeddings"] = *context;
  }
  if (fields.BoolOr("use_scaled_rope", false)) {
    config["rope_scaling"] = {{"rope_type", "llama3"},
                              {"factor", fields.NumberOr("rope_scaling_factor", 8.0)},
                              {"low_freq_factor", 1.0},
                              {"high_freq_factor", 4.0},
                              {"original_max_position_embeddings", 8192}};
  }
}

void ReadParamsEmbeddings(JsonFields& fields, ParamsConfig& params, json& config) {
  config["tie_word_embeddings"] = fields.BoolOr("tied_embeddings", false);
  if (fields.Has("tied_embeddings")) return;
  params.notes.push_back(
      "params.json does not say whether embedding and head share one matrix; planned with two");
}

// Checks the keys that nothing above read. A tower gets a note; any other key that is switched on
// is refused.
absl::Status CheckRestOfParams(const JsonFields& fields, const json& params, ParamsConfig& read) {
  for (const std::string& key : fields.UnaskedKeys()) {
    const json& value = params.at(key);
    if (IsOff(value)) continue;
    if (key == "vision_encoder") {
      read.notes.push_back(
          "vision_encoder: not planned yet; figures are those of the language model alone");
    } else if (key == "yarn" || key == "quantization") {
      read.notes.push_back(
          absl::StrCat("set aside, as it changes neither memory nor step time: ", key));
    } else {
      return FieldError(key, ShowJson(value),
                        "is not understood in a params.json; must be absent, or the model's "
                        "config.json given instead");
    }
  }
  return absl::OkStatus();
}

}  // namespace

bool IsParams(std::string_view text) {
  const absl::StatusOr<json> params = ParsePythonJsonObject("model", text);
  return params.ok() && params->contains("dim") && params->contains("n_layers");
}

absl::StatusOr<ParamsConfig> ConfigOfParams(std::string_view text) {
  ASSIGN_OR_RETURN(const json params, ParsePythonJsonObject("model", text));
  JsonFields fields(params);
  for (const char* key : kWithoutEffect) fields.Has(key);
  ParamsConfig read;
  json config = {{"model_type", "llama"}, {"hidden_act", "silu"}};
  const int64_t dim = ReadSize(fields, "dim");
  config["hidden_size"] = dim;
  config["num_hidden_layers"] = ReadSize(fields, "n_layers");
  const int64_t heads = ReadSize(fields, "n_heads");
  config["num_attention_heads"] = heads;
  config["num_key_value_heads"] = ReadSizeOr(fields, "n_kv_heads", heads);
  RETURN_IF_ERROR(fields.status());
  if (!fields.Has("head_dim") && dim % heads != 0) {
    return FieldError("n_heads", heads,
                      absl::StrCat("must divide dim = ", dim, " where head_dim is not given"));
  }
  config["head_dim"] = ReadSizeOr(fields, "head_dim", dim / heads);
  config["rms_norm_eps"] = fields.NumberOr("norm_eps", 1e-5);
  ReadParamsFfn(fields, dim, config);
  ReadParamsVocab(fields, read, config);
  ReadParamsPositions(fields, config);
  ReadParamsEmbeddings(fields, read, config);
  RETURN_IF_ERROR(fields.status());
  RETURN_IF_ERROR(CheckRestOfParams(fields, params, read));
  read.config_json = config.dump();
  return read;
}

}  // namespace meshwright::planner

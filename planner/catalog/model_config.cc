#include "planner/catalog/model_config.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text/escape_controls.h"
#include "base/text/field_error.h"
#include "base/text/json_text.h"
#include "base/text/short_text.h"
#include "base/text/status_macros.h"
#include "planner/catalog/architecture.h"
#include "planner/catalog/catalog.h"
#include "planner/catalog/layer_groups.h"
#include "planner/catalog/rope_config.h"
#include "planner/codec/json_fields.h"

namespace meshwright::planner {
namespace {

constexpr size_t kMostShownKeys = 10;
constexpr size_t kShownKeyBytes = 60;

using nlohmann::json;

int64_t HeadDim(JsonFields& fields, const Architecture& architecture, int64_t hidden,
                int64_t heads) {
  if (const auto given = fields.OptionalInt("head_dim")) return *given;
  if (architecture.head_dim) return *architecture.head_dim;
  if (heads > 0 && hidden % heads != 0) {
    fields.Fail(FieldError(
        "num_attention_heads", heads,
        absl::StrCat("must divide hidden_size = ", hidden, " where head_dim is not given")));
  }
  return heads > 0 ? hidden / heads : 0;
}

Attention ReadLatentAttention(JsonFields& fields) {
  Attention attention;
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

Attention ReadAttention(JsonFields& fields, const Architecture& architecture, int64_t hidden) {
  if (architecture.latent) return ReadLatentAttention(fields);
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
  return attention;
}

void ReadPositions(JsonFields& fields, const Architecture& architecture, int64_t head_dim,
                   ModelSpec& model) {
  model.positions = architecture.positions;
  if (model.positions == Positions::kLearned) {
    model.learned_positions = fields.Int("max_position_embeddings") + architecture.position_offset;
  }
  if (model.positions != Positions::kRotary) return;
  model.rotary_share = fields.NumberOr("partial_rotary_factor", architecture.rotary_share);
  const auto dimensions = fields.OptionalInt("rotary_dim");
  if (dimensions && head_dim > 0) {
    model.rotary_share = static_cast<double>(*dimensions) / static_cast<double>(head_dim);
  }
}

// A learned table has exactly one row for every position.
absl::Status CheckTable(const ModelSpec& model, const Architecture& architecture, int64_t seq_len) {
  if (model.positions != Positions::kLearned) return absl::OkStatus();
  const int64_t positions = model.learned_positions - architecture.position_offset;
  if (positions >= seq_len) return absl::OkStatus();
  return FieldError("max_position_embeddings", positions,
                    absl::StrCat("positions are learned; must be at least the sequence length of ",
                                 seq_len, " tokens"));
}

}  // namespace

absl::StatusOr<ModelConfig> ReadModelConfig(std::string_view name, std::string_view text,
                                            int64_t seq_len) {
  ASSIGN_OR_RETURN(json parsed, ParseJsonObject("model", text));
  const json config = CanonicalConfig(std::move(parsed));
  ASSIGN_OR_RETURN(const Architecture architecture, ArchitectureOf(config));
  JsonFields fields(config);
  fields.Has("model_type");

  ModelConfig read;
  ModelSpec& model = read.model;
  model.name = EscapeControls(name);
  model.hidden = fields.Int("hidden_size");
  const Attention attention = ReadAttention(fields, architecture, model.hidden);
  model.vocab = fields.Int("vocab_size");
  model.tied_embeddings = fields.BoolOr("tie_word_embeddings", architecture.tied);
  model.head_bias = architecture.head_bias;
  model.embedding_norm = architecture.embedding_norm;
  model.norm = architecture.norm;
  model.arrangement = architecture.arrangement;
  ReadPositions(fields, architecture, attention.head_dim, model);
  model.norm_epsilon = fields.NumberOr("rms_norm_eps", architecture.norm_epsilon);
  model.initializer_range = fields.NumberOr("initializer_range", model.initializer_range);
  model.mtp_layers = fields.IntOr("num_nextn_predict_layers", 0);
  ASSIGN_OR_RETURN(model.groups,
                   ReadLayerGroups(fields, architecture, attention, model.hidden, seq_len));
  RETURN_IF_ERROR(fields.status());
  ASSIGN_OR_RETURN(const RopeConfig rope, ReadRopeConfig(fields, read.unknown_keys));
  model.rope_theta = rope.theta;
  model.rope_scaling = rope.scaling;
  RETURN_IF_ERROR(Validate(model));
  RETURN_IF_ERROR(CheckTable(model, architecture, seq_len));
  read.unknown_keys.insert(read.unknown_keys.end(), architecture.left_aside.begin(),
                           architecture.left_aside.end());
  for (const std::string& key : fields.UnaskedKeys()) {
    if (!IsKnownConfigKey(key)) read.unknown_keys.push_back(key);
  }
  return read;
}

std::vector<std::string> NotesOn(const ModelConfig& config) {
  if (config.unknown_keys.empty()) return {};
  const size_t shown = std::min(config.unknown_keys.size(), kMostShownKeys);
  std::vector<std::string> keys;
  for (size_t i = 0; i < shown; ++i) {
    keys.push_back(EscapeControls(ShortText(config.unknown_keys[i], kShownKeyBytes)));
  }
  const size_t more = config.unknown_keys.size() - shown;
  return {absl::StrCat("config.json has keys that the planner does not know and left aside: ",
                       absl::StrJoin(keys, ", "),
                       more > 0 ? absl::StrCat(" and ", more, " more") : "",
                       "; check that they change nothing about the model")};
}

absl::StatusOr<ModelSpec> ModelFromConfig(std::string_view name, std::string_view json,
                                          int64_t seq_len) {
  ASSIGN_OR_RETURN(ModelConfig read, ReadModelConfig(name, json, seq_len));
  return std::move(read.model);
}

}  // namespace meshwright::planner

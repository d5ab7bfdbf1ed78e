#include "planner/catalog/model_config.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text/field_error.h"
#include "base/text/json_text.h"
#include "base/text/message_text.h"
#include "base/text/status_macros.h"
#include "planner/catalog/architecture.h"
#include "planner/catalog/catalog.h"
#include "planner/catalog/layer_groups.h"
#include "planner/codec/json_fields.h"
#include "planner/spec/rope_scaling.h"

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

struct RopeConfig {
  double theta = 10000.0;
  RopeScaling scaling;
};

struct RopeObject {
  std::optional<double> theta;
  RopeScaling scaling;
};

absl::StatusOr<RopeScalingKind> ReadRopeKind(JsonFields& fields, const std::string& prefix) {
  // `type` is the older spelling.
  const std::string_view key =
      fields.Has("type") && !fields.Has("rope_type") ? "type" : "rope_type";
  const std::string name = fields.StringOr(key, "default");
  auto kind = ParseRopeScalingKind(absl::StrCat(prefix, std::string(key)), name);
  if (kind.ok()) return kind;
  return FieldError(FieldOf(kind.status()), name,
                    "this scaling of rotary embeddings is not planned yet; must be default, linear "
                    "or llama3. It changes neither memory nor step time: without it the estimate "
                    "is that of this model");
}

absl::StatusOr<RopeObject> ReadRopeObject(const std::string& name, const json& object,
                                          std::vector<std::string>& unknown_keys) {
  const std::string prefix = name + ".";
  for (const auto& [key, value] : object.items()) {
    if (value.is_object()) {
      return FieldError(prefix + key, "(object)",
                        "rotary embeddings that differ between layers are not planned yet; must be "
                        "absent");
    }
  }
  JsonFields fields(object, prefix);
  RopeObject rope;
  rope.theta = fields.OptionalNumber("rope_theta");
  ASSIGN_OR_RETURN(rope.scaling.kind, ReadRopeKind(fields, prefix));
  if (rope.scaling.kind != RopeScalingKind::kNone) rope.scaling.factor = fields.Number("factor");
  if (rope.scaling.kind == RopeScalingKind::kLlama3) {
    rope.scaling.low_freq_factor = fields.Number("low_freq_factor");
    rope.scaling.high_freq_factor = fields.Number("high_freq_factor");
    rope.scaling.original_max_positions = fields.Int("original_max_position_embeddings");
  }
  const double rotary_share = fields.NumberOr("partial_rotary_factor", 1.0);
  RETURN_IF_ERROR(fields.status());
  if (rotary_share != 1.0) {
    return FieldError(prefix + "partial_rotary_factor", absl::StrCat(rotary_share),
                      "rotary embedding of a part of each head: not planned yet; must be 1");
  }
  for (const std::string& key : fields.UnaskedKeys()) unknown_keys.push_back(prefix + key);
  return rope;
}

// Reads the keys about the rotary embedding: rope_theta and rope_scaling, or both within
// rope_parameters, as in newer files. InvalidArgument names the key, also for kinds of scaling that
// are not planned. Unknown keys within the objects are appended to `unknown_keys`.
absl::StatusOr<RopeConfig> ReadRopeConfig(JsonFields& config,
                                          std::vector<std::string>& unknown_keys) {
  const std::optional<double> theta = config.OptionalNumber("rope_theta");
  std::optional<RopeObject> object;
  std::string read_from;
  for (const std::string name : {"rope_scaling", "rope_parameters"}) {
    if (!config.Has(name)) continue;
    const json& written = config.Object(name);
    RETURN_IF_ERROR(config.status());
    ASSIGN_OR_RETURN(const RopeObject read, ReadRopeObject(name, written, unknown_keys));
    if (object && object->scaling != read.scaling) {
      return FieldError(name, "(object)", "must say the same as " + read_from);
    }
    if (object && !object->theta) object->theta = read.theta;
    if (!object) object = read;
    read_from = name;
  }
  RETURN_IF_ERROR(config.status());
  const std::optional<double> inner_theta = object ? object->theta : std::nullopt;
  if (theta && inner_theta && *theta != *inner_theta) {
    return FieldError("rope_theta", absl::StrCat(*theta),
                      absl::StrCat("must be the ", *inner_theta, " of ", read_from));
  }
  RopeConfig rope;
  rope.theta = theta.value_or(inner_theta.value_or(rope.theta));
  if (object) rope.scaling = object->scaling;
  return rope;
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

#include "planner/catalog/model_config.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text/field_error.h"
#include "base/text/message_text.h"
#include "base/text/status_macros.h"
#include "planner/catalog/architecture.h"
#include "planner/catalog/architecture_table.h"
#include "planner/catalog/canonical_config.h"
#include "planner/catalog/catalog.h"
#include "planner/catalog/config_keys.h"
#include "planner/catalog/key_rule.h"
#include "planner/catalog/language_model.h"
#include "planner/catalog/layer_groups.h"
#include "planner/catalog/missing_parts.h"
#include "planner/catalog/part_keys.h"
#include "planner/catalog/python_json.h"
#include "planner/catalog/rope_config.h"
#include "planner/catalog/tower_config.h"
#include "planner/codec/json_fields.h"
#include "planner/profile/model_part.h"

namespace meshwright::planner {
namespace {

constexpr size_t kMostShownKeys = 10;
constexpr size_t kMostNamedKeys = 5;  // of a refusal
constexpr size_t kShownKeyBytes = 60;
constexpr const char* kNoteOnHalves =
    "each layer of config.json is planned as two layers, each with attention and an FFN, and the "
    "first of them with the experts; a token passes the average number of experts that have "
    "parameters";

using nlohmann::json;

void ReadPositions(JsonFields& fields, const Architecture& architecture, const RopeConfig& rope,
                   ModelSpec& model) {
  model.positions = architecture.positions;
  if (model.positions == Positions::kLearned) {
    model.learned_positions = fields.Int("max_position_embeddings") + architecture.position_offset;
  }
  const auto share = fields.OptionalNumber("partial_rotary_factor");
  const auto dimensions = fields.OptionalInt("rotary_dim");
  if (model.positions != Positions::kRotary) return;
  model.rope_theta = rope.theta;
  model.rope_scaling = rope.scaling;
  model.rotary_share = share.value_or(rope.rotary_share.value_or(architecture.rotary_share));
  const int64_t head_dim = model.FirstAttention().head_dim;
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

// Reads the ends of the model, and what all its layers have in common.
void ReadEnds(JsonFields& fields, const Architecture& architecture, ModelSpec& model) {
  model.vocab = fields.Int("vocab_size");
  model.tied_embeddings = fields.BoolOr("tie_word_embeddings", architecture.tied);
  model.head_bias = architecture.head_bias;
  model.embedding_norm = architecture.embedding_norm;
  model.norm = architecture.norm;
  model.arrangement = architecture.arrangement;
  model.norm_epsilon = architecture.norm_epsilon;
  for (const char* key : {"layer_norm_epsilon", "layer_norm_eps", "rms_norm_eps"}) {
    model.norm_epsilon = fields.NumberOr(key, model.norm_epsilon);
  }
  model.initializer_range = fields.NumberOr("initializer_range", model.initializer_range);
  model.mtp_layers = fields.IntOr("num_nextn_predict_layers", 0);
  model.residual_streams = std::max<int64_t>(fields.IntOr("hc_mult", 1), 1);
  if (!architecture.mixes_streams) model.stream_kind = StreamKind::kUnmixed;
  if (const int64_t predicted = fields.IntOr("altup_num_inputs", 1); predicted > 1) {
    model.residual_streams = predicted;
    model.stream_kind = StreamKind::kAltUp;
  }
  model.laurel_rank = fields.IntOr("laurel_rank", 0);
  model.norm_gate_rank = fields.IntOr("gated_norm_rank", 0);
  model.residual_scales = architecture.residual_scales;
  if (fields.Has("d_rel")) model.branch_conv = fields.Int("conv_kernel_size");
  model.merges_streams = architecture.merges_streams && model.residual_streams > 1;
  model.layer_input = fields.IntOr("hidden_size_per_layer_input", 0);
  const int64_t tokens = fields.IntOr("vocab_size_per_layer_input", model.vocab);
  if (model.layer_input > 0) model.layer_input_vocab = tokens;
}

// A layer that predicts a further token has attention and an FFN, even where the last layer has not
// (Nemotron 3, Qwen3.5).
void ReadFurtherLayer(ModelSpec& model) {
  const LayerGroup& last = model.groups.back();
  if (model.mtp_layers > 0 && last.attention.kind == AttentionKind::kCompressed) {
    model.mtp_layer = last;  // DeepSeek-V4's sees its window alone
    model.mtp_layer->count = 1;
    model.mtp_layer->attention.compress_ratio = 0;
    model.mtp_layer->attention.index = {};
  }
  if (model.mtp_layers == 0 || (last.attention.exists() && last.ffn.exists())) return;
  LayerGroup layer{.attention = kNoAttention, .ffn = kNoFfn, .count = 1};
  for (const LayerGroup& group : model.groups) {
    if (group.attention.exists()) layer.attention = group.attention;
    if (group.ffn.exists()) layer.ffn = group.ffn;
  }
  if (layer.mixes() && layer.ffn.exists()) model.mtp_layer = layer;
}

// Returns whether a key that no getter asked for changes nothing, or is checked elsewhere. In
// families that are not listed, only keys with one meaning in all families count.
bool IsKnownUnasked(const std::string& key, const KeyRow& row, bool is_listed) {
  const ArchitectureTable& table = Architectures();
  if (table.general_keys.contains(key)) return true;
  if (!is_listed && row.of_families) return false;
  const bool is_read = row.For(KeyUser::kEstimate).effect == KeyEffect::kCounts;
  return row.is_spare || !is_read || (is_listed && table.family_keys.contains(key));
}

// Every key that is known has a row of its own.
void AddUnknownKeys(const json& config, const std::vector<std::string>& unasked, bool is_listed,
                    std::vector<std::string>& unknown_keys) {
  const std::vector<std::string>& endings = Architectures().ignored_endings;
  for (const auto& [key, value] : config.items()) {
    if (IsOff(value)) continue;
    const auto ends = [&name = key](const std::string& ending) { return name.ends_with(ending); };
    if (std::any_of(endings.begin(), endings.end(), ends)) continue;
    const KeyRow* row = FindConfigKey(key);
    const bool is_asked = std::find(unasked.begin(), unasked.end(), key) == unasked.end();
    if (row != nullptr && (is_asked || IsKnownUnasked(key, *row, is_listed))) continue;
    unknown_keys.push_back(key);
  }
}

// A family that is not listed is planned if all its keys are understood.
absl::Status CheckUnderstood(const Architecture& architecture, const json& config,
                             const std::vector<std::string>& unknown_keys) {
  if (architecture.is_listed || unknown_keys.empty()) return absl::OkStatus();
  std::vector<std::string> named;
  for (const std::string& key : unknown_keys) {
    if (named.size() == kMostNamedKeys) break;
    const auto value = config.find(key);
    const std::string shown = value == config.end() ? "" : ShownValue(*value);
    named.push_back(EscapeControls(ShortText(key, kShownKeyBytes)) +
                    (shown.empty() ? "" : " = " + shown));
  }
  const size_t more = unknown_keys.size() - named.size();
  if (more > 0) named.push_back(absl::StrCat(more, " more"));
  return FieldError("model_type", ShortenedName(architecture.model_type),
                    absl::StrCat("is not known, and nor are its keys ", ListInWords(named, "and"),
                                 "; must be that of a family that is planned"));
}

absl::StatusOr<ModelConfig> ReadLanguageModel(std::string_view name, const json& config,
                                              int64_t seq_len) {
  ASSIGN_OR_RETURN(const Architecture architecture, ArchitectureOf(config, seq_len));
  RETURN_IF_ERROR(CheckSizes(config));
  JsonFields fields(config);
  fields.Has("model_type");
  ModelConfig read;
  ModelSpec& model = read.model;
  model.name = EscapeControls(name);
  model.hidden = fields.Int("hidden_size");
  ReadEnds(fields, architecture, model);
  ASSIGN_OR_RETURN(model.groups,
                   ReadLayerGroups(fields, config, architecture, model.hidden, seq_len));
  RETURN_IF_ERROR(fields.status());
  ReadFurtherLayer(model);
  ASSIGN_OR_RETURN(RopeConfig rope, ReadRopeConfig(fields));
  ReadPositions(fields, architecture, rope, model);
  RETURN_IF_ERROR(fields.status());
  RETURN_IF_ERROR(Validate(model));
  RETURN_IF_ERROR(CheckTable(model, architecture, seq_len));
  model.set_aside = std::move(rope.set_aside);
  model.set_aside.insert(model.set_aside.end(), architecture.set_aside.begin(),
                         architecture.set_aside.end());
  if (architecture.layers_in_halves) read.remarks.emplace_back(kNoteOnHalves);
  read.without_effect = architecture.without_effect;
  if (const auto context = config.find("max_position_embeddings");
      context != config.end() && context->is_number_integer() && *context > 0) {
    read.context_tokens = context->get<int64_t>();
  }
  read.unknown_keys = std::move(rope.unknown_keys);
  AddUnknownKeys(config, fields.UnaskedKeys(), architecture.is_listed, read.unknown_keys);
  RETURN_IF_ERROR(CheckUnderstood(architecture, config, read.unknown_keys));
  if (!architecture.is_listed) read.unlisted_type = architecture.model_type;
  return read;
}

std::string NoteOnUnknownKeys(const std::vector<std::string>& unknown_keys) {
  const size_t shown = std::min(unknown_keys.size(), kMostShownKeys);
  std::vector<std::string> keys;
  for (size_t i = 0; i < shown; ++i) {
    keys.push_back(EscapeControls(ShortText(unknown_keys[i], kShownKeyBytes)));
  }
  const size_t more = unknown_keys.size() - shown;
  return absl::StrCat("config.json has keys that the planner does not know and left aside: ",
                      absl::StrJoin(keys, ", "),
                      more > 0 ? absl::StrCat(" and ", more, " more") : "",
                      "; check that they change nothing about the model");
}

// Names the parts of a model whose family is not known.
std::string NoteOnUnlistedType(const ModelConfig& config) {
  const ModelSpec& model = config.model;
  return absl::StrCat("model_type = ", ShortenedName(EscapeControls(config.unlisted_type)),
                      " is not known; planned by its keys as a decoder of ",
                      NamesOf(PartsOf(model), ModelPartName), " and ",
                      std::string(NameOf(kFfnKindNames, model.FirstFfn().kind)),
                      "; check that its code adds nothing");
}

}  // namespace

absl::StatusOr<ModelConfig> ReadModelConfig(std::string_view name, std::string_view text,
                                            int64_t seq_len) {
  ASSIGN_OR_RETURN(json parsed, ParsePythonJsonObject("model", text));
  ASSIGN_OR_RETURN(LanguageModel language, FindLanguageModel(std::move(parsed)));
  FileKeys file = ReadFileKeys(language.config);
  const bool is_inside = !language.wrappers.empty();
  // A tower may also stand beside the sizes of the language model (Qwen2-VL).
  std::vector<json> around = std::move(language.wrappers);
  around.push_back(language.config);
  const json config = CanonicalConfig(std::move(language.config), is_inside);
  ASSIGN_OR_RETURN(ModelConfig read, ReadLanguageModel(name, config, seq_len));
  read.towers = std::move(language.towers);
  for (const json& object : around) {
    for (Tower& tower : ReadTowers(object, read.model.hidden)) {
      std::erase(read.towers, tower.key);
      file.of_parts.push_back({std::string(ModelPartName(ModelPart::kTower)), tower.key, ""});
      read.model.towers.push_back(std::move(tower));
    }
  }
  read.model.file = std::move(file);
  return read;
}

std::vector<std::string> NotesOn(const ModelConfig& config) {
  std::vector<std::string> notes = config.remarks;
  if (!config.unlisted_type.empty()) notes.push_back(NoteOnUnlistedType(config));
  if (!config.model.towers.empty()) {
    const Tower& tower = config.model.towers.front();
    notes.push_back(absl::StrCat(tower.key, ": a tower of ", tower.layers, " layers of width ",
                                 tower.hidden, " is planned as trained, on the first stage"));
  }
  if (!config.towers.empty()) {
    notes.push_back(
        absl::StrCat(absl::StrJoin(config.towers, ", "),
                     ": not planned yet; figures are those of the language model alone"));
  }
  std::vector<std::string> aside;
  for (const SetAsideKey& key : config.model.set_aside) {
    const KeyRow* row = FindConfigKey(key.key);
    const bool is_noted =
        row == nullptr || row->For(KeyUser::kEstimate).effect == KeyEffect::kNotes;
    const bool is_list = key.value.starts_with('[');
    if (is_noted) {
      aside.push_back(absl::StrCat(key.key, " = ", is_list ? "(list)" : EscapeControls(key.value)));
    }
  }
  aside.insert(aside.end(), config.without_effect.begin(), config.without_effect.end());
  if (!aside.empty()) {
    notes.push_back(absl::StrCat("set aside, as it changes neither memory nor step time: ",
                                 absl::StrJoin(aside, ", ")));
  }
  if (!config.unknown_keys.empty()) notes.push_back(NoteOnUnknownKeys(config.unknown_keys));
  return notes;
}

absl::StatusOr<ModelSpec> ModelFromConfig(std::string_view name, std::string_view json,
                                          int64_t seq_len) {
  ASSIGN_OR_RETURN(ModelConfig read, ReadModelConfig(name, json, seq_len));
  return std::move(read.model);
}

}  // namespace meshwright::planner

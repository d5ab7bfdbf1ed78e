#include "executor/trial/model_json.h"

#include <string>
#include <utility>

#include "planner/codec/json_fields.h"
#include "planner/base/field_error.h"
#include "planner/base/status_macros.h"

namespace meshwright::trial {
namespace {

// `value` of `parsed`, its error going to `fields`.
template <typename T>
T Take(planner::JsonFields& fields, absl::StatusOr<T> parsed) {
  if (parsed.ok()) return *std::move(parsed);
  fields.Fail(parsed.status());
  return T();
}

std::string_view FfnName(planner::FfnKind ffn) { return ffn == planner::FfnKind::kSwiGlu ? "swiglu" : "gelu"; }

absl::StatusOr<planner::FfnKind> ParseFfn(std::string_view name) {
  for (const planner::FfnKind ffn : {planner::FfnKind::kSwiGlu, planner::FfnKind::kGelu}) {
    if (name == FfnName(ffn)) return ffn;
  }
  return FieldError("model.groups.ffn", name, "expected one of swiglu, gelu");
}

nlohmann::json RopeScalingToJson(const planner::RopeScaling& scaling) {
  return {{"rope_type", std::string(planner::RopeScalingName(scaling.kind))},
          {"factor", scaling.factor},
          {"low_freq_factor", scaling.low_freq_factor},
          {"high_freq_factor", scaling.high_freq_factor},
          {"original_max_position_embeddings", scaling.original_max_positions}};
}

planner::RopeScaling RopeScalingFromJson(planner::JsonFields& model) {
  if (!model.Has("rope_scaling")) return {};
  planner::JsonFields fields(model.Object("rope_scaling"), "model.rope_scaling.");
  planner::RopeScaling scaling;
  scaling.kind = Take(
      fields, planner::ParseRopeScalingKind("model.rope_scaling.rope_type", fields.String("rope_type")));
  scaling.factor = fields.Number("factor");
  scaling.low_freq_factor = fields.Number("low_freq_factor");
  scaling.high_freq_factor = fields.Number("high_freq_factor");
  scaling.original_max_positions = fields.Int("original_max_position_embeddings");
  fields.RefuseUnknownKeys();
  model.Fail(fields.status());
  return scaling;
}

// The model's keys are those of its first layers; a group has the keys of its own attention where
// that is another.
void AddAttention(const planner::Attention& attention, nlohmann::json& object) {
  object["heads"] = attention.heads;
  object["kv_heads"] = attention.kv_heads;
  object["head_dim"] = attention.head_dim;
  object["qkv_bias"] = attention.qkv_bias;
  object["qk_norm"] = attention.qk_norm;
}

planner::Attention AttentionFromJson(planner::JsonFields& fields,
                                     const planner::Attention& otherwise) {
  return {.kind = otherwise.kind,
          .heads = fields.IntOr("heads", otherwise.heads),
          .kv_heads = fields.IntOr("kv_heads", otherwise.kv_heads),
          .head_dim = fields.IntOr("head_dim", otherwise.head_dim),
          .qkv_bias = fields.BoolOr("qkv_bias", otherwise.qkv_bias),
          .qk_norm = fields.BoolOr("qk_norm", otherwise.qk_norm)};
}

absl::StatusOr<planner::LayerGroup> LayerGroupFromJson(const nlohmann::json& json,
                                                       const planner::Attention& of_model) {
  planner::JsonFields fields(json, "model.groups.");
  planner::LayerGroup group;
  group.attention = AttentionFromJson(fields, of_model);
  group.ffn.kind = Take(fields, ParseFfn(fields.String("ffn")));
  group.ffn.hidden = fields.Int("ffn_hidden");
  group.count = fields.Int("count");
  fields.RefuseUnknownKeys();
  RETURN_IF_ERROR(fields.status());
  return group;
}

}  // namespace

nlohmann::json ModelToJson(const planner::ModelSpec& model) {
  nlohmann::json groups = nlohmann::json::array();
  for (const planner::LayerGroup& group : model.groups) {
    nlohmann::json object = {{"ffn", std::string(FfnName(group.ffn.kind))},
                             {"ffn_hidden", group.ffn.hidden},
                             {"count", group.count}};
    if (group.attention != model.groups.front().attention) AddAttention(group.attention, object);
    groups.push_back(std::move(object));
  }
  nlohmann::json json = {{"name", model.name},
                         {"hidden", model.hidden},
                         {"vocab", model.vocab},
                         {"tied_embeddings", model.tied_embeddings},
                         {"norm_epsilon", model.norm_epsilon},
                         {"rope_theta", model.rope_theta},
                         {"rope_scaling", RopeScalingToJson(model.rope_scaling)},
                         {"initializer_range", model.initializer_range},
                         {"groups", std::move(groups)}};
  AddAttention(model.groups.empty() ? planner::Attention() : model.groups.front().attention, json);
  return json;
}

absl::StatusOr<planner::ModelSpec> ModelFromJson(const nlohmann::json& json) {
  planner::JsonFields fields(json, "model.");
  planner::ModelSpec model{.name = fields.String("name"),
                           .hidden = fields.Int("hidden"),
                           .vocab = fields.Int("vocab"),
                           .tied_embeddings = fields.BoolOr("tied_embeddings", false),
                           .norm_epsilon = fields.Number("norm_epsilon"),
                           .rope_theta = fields.Number("rope_theta"),
                           .rope_scaling = RopeScalingFromJson(fields),
                           .initializer_range = fields.NumberOr(
                               "initializer_range", planner::ModelSpec().initializer_range),
                           .groups = {}};
  const planner::Attention attention{.heads = fields.Int("heads"),
                                     .kv_heads = fields.Int("kv_heads"),
                                     .head_dim = fields.Int("head_dim"),
                                     .qkv_bias = fields.BoolOr("qkv_bias", false),
                                     .qk_norm = fields.BoolOr("qk_norm", false)};
  const bool has_groups = fields.Has("groups");
  fields.RefuseUnknownKeys();
  RETURN_IF_ERROR(fields.status());
  if (!has_groups || !json["groups"].is_array()) {
    return FieldError("model.groups", "missing", "expected a list of layer groups");
  }
  for (const nlohmann::json& item : json["groups"]) {
    ASSIGN_OR_RETURN(planner::LayerGroup group, LayerGroupFromJson(item, attention));
    model.groups.push_back(group);
  }
  RETURN_IF_ERROR(Validate(model));
  return model;
}

}  // namespace meshwright::trial

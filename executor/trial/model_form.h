// ModelForm is a plan's model in the form that its JSON has. The model states its attention once,
// and a group of layers states only values that differ. Attention is latent if `kv_rank`, the rank
// of the latent of keys and values, is above 0.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "planner/catalog/spec_fields.h"
#include "planner/codec/fields.h"
#include "planner/spec/model_spec.h"

namespace meshwright::trial {

struct LayerGroupForm {
  std::optional<int64_t> heads;
  std::optional<int64_t> kv_heads;
  std::optional<int64_t> head_dim;
  std::optional<bool> qkv_bias;
  std::optional<bool> qk_norm;
  std::optional<bool> qk_norm_over_width;
  std::optional<bool> output_bias;
  std::optional<int64_t> window;
  std::optional<bool> chunked;
  std::optional<bool> sinks;
  std::optional<int64_t> query_rank;  // this and the next three belong to latent attention
  std::optional<int64_t> kv_rank;
  std::optional<int64_t> rotary_dim;
  std::optional<int64_t> value_dim;
  planner::Ffn ffn;
  int64_t count = 0;
};

struct ModelForm {
  planner::ModelSpec model;  // without its groups
  planner::Attention attention;
  std::vector<LayerGroupForm> groups;
};

ModelForm FormOf(const planner::ModelSpec& model);
planner::ModelSpec ModelOf(const ModelForm& form);

template <planner::ConstOr<LayerGroupForm> Group, typename Visitor>
void VisitFields(Group& group, Visitor& visit) {
  visit("heads", group.heads);
  visit("kv_heads", group.kv_heads);
  visit("head_dim", group.head_dim);
  visit("qkv_bias", group.qkv_bias);
  visit("qk_norm", group.qk_norm);
  visit("qk_norm_over_width", group.qk_norm_over_width);
  visit("output_bias", group.output_bias);
  visit("window", group.window);
  visit("chunked", group.chunked);
  visit("sinks", group.sinks);
  visit("query_rank", group.query_rank);
  visit("kv_rank", group.kv_rank);
  visit("rotary_dim", group.rotary_dim);
  visit("value_dim", group.value_dim);
  visit(planner::Needed("ffn"), group.ffn.kind, planner::kFfnKindNames);
  visit(planner::Needed("ffn_hidden"), group.ffn.hidden);
  visit(planner::OnlyIf(group.ffn.bias, "ffn_bias"), group.ffn.bias);
  visit(planner::OnlyIf(group.ffn.clamp > 0.0, "ffn_clamp"), group.ffn.clamp);
  visit(planner::OnlyIf(group.ffn.has_experts(), "experts"), group.ffn.experts);
  visit(planner::Needed("count"), group.count);
}

// Visits the fields in which models differ from Llama's family. A field that does not differ is
// left out, so that older workers can read plans of Llama models.
template <planner::ConstOr<ModelForm> Form, typename Visitor>
void VisitFamilyFields(Form& form, Visitor& visit) {
  using planner::OnlyIf;
  auto& attention = form.attention;
  auto& model = form.model;
  const planner::ModelSpec llama;
  visit(OnlyIf(attention.qk_norm_over_width, "qk_norm_over_width"), attention.qk_norm_over_width);
  visit(OnlyIf(attention.output_bias, "output_bias"), attention.output_bias);
  visit(OnlyIf(attention.window > 0, "window"), attention.window);
  visit(OnlyIf(attention.chunked, "chunked"), attention.chunked);
  visit(OnlyIf(attention.sinks, "sinks"), attention.sinks);
  visit(OnlyIf(attention.query_rank > 0, "query_rank"), attention.query_rank);
  visit(OnlyIf(attention.kv_rank > 0, "kv_rank"), attention.kv_rank);
  visit(OnlyIf(attention.rotary_dim > 0, "rotary_dim"), attention.rotary_dim);
  visit(OnlyIf(attention.value_dim > 0, "value_dim"), attention.value_dim);
  visit(OnlyIf(model.head_bias, "head_bias"), model.head_bias);
  visit(OnlyIf(model.embedding_norm, "embedding_norm"), model.embedding_norm);
  visit(OnlyIf(model.norm != llama.norm, "norm"), model.norm, planner::kStreamNormNames);
  visit(OnlyIf(model.arrangement != llama.arrangement, "arrangement"), model.arrangement,
        planner::kArrangementNames);
  visit(OnlyIf(model.positions != llama.positions, "positions"), model.positions,
        planner::kPositionsNames);
  visit(OnlyIf(model.learned_positions != 0, "learned_positions"), model.learned_positions);
  visit(OnlyIf(model.rotary_share != 1.0, "rotary_share"), model.rotary_share);
}

template <planner::ConstOr<ModelForm> Form, typename Visitor>
void VisitFields(Form& form, Visitor& visit) {
  auto& model = form.model;
  visit(planner::Needed("name"), model.name);
  visit(planner::Needed("hidden"), model.hidden);
  visit(planner::Needed("heads"), form.attention.heads);
  visit(planner::Needed("kv_heads"), form.attention.kv_heads);
  visit(planner::Needed("head_dim"), form.attention.head_dim);
  visit(planner::Needed("vocab"), model.vocab);
  visit("tied_embeddings", model.tied_embeddings);
  visit("qkv_bias", form.attention.qkv_bias);
  visit("qk_norm", form.attention.qk_norm);
  VisitFamilyFields(form, visit);
  visit(planner::Needed("norm_epsilon"), model.norm_epsilon);
  visit(planner::Needed("rope_theta"), model.rope_theta);
  visit("rope_scaling", model.rope_scaling);
  visit("initializer_range", model.initializer_range);
  visit(planner::Needed("groups"), form.groups);
}

}  // namespace meshwright::trial

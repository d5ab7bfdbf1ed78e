#include "executor/trial/model_form.h"

namespace meshwright::trial {

ModelForm FormOf(const planner::ModelSpec& model) {
  ModelForm form{.model = model, .attention = {}, .groups = {}};
  form.model.groups.clear();
  if (!model.groups.empty()) form.attention = model.groups.front().attention;
  for (const planner::LayerGroup& group : model.groups) {
    LayerGroupForm& to = form.groups.emplace_back();
    to.ffn = group.ffn;
    to.count = group.count;
    if (group.attention == form.attention) continue;
    to.heads = group.attention.heads;
    to.kv_heads = group.attention.kv_heads;
    to.head_dim = group.attention.head_dim;
    to.qkv_bias = group.attention.qkv_bias;
    to.qk_norm = group.attention.qk_norm;
    // These are written only where they differ, so that workers of other versions can read plans
    // without them.
    const auto say = [](const auto& of_group, const auto& of_model, auto& said) {
      if (of_group != of_model) said = of_group;
    };
    say(group.attention.qk_norm_over_width, form.attention.qk_norm_over_width,
        to.qk_norm_over_width);
    say(group.attention.output_bias, form.attention.output_bias, to.output_bias);
    say(group.attention.window, form.attention.window, to.window);
    say(group.attention.chunked, form.attention.chunked, to.chunked);
    say(group.attention.sinks, form.attention.sinks, to.sinks);
    say(group.attention.query_rank, form.attention.query_rank, to.query_rank);
    say(group.attention.kv_rank, form.attention.kv_rank, to.kv_rank);
    say(group.attention.rotary_dim, form.attention.rotary_dim, to.rotary_dim);
    say(group.attention.value_dim, form.attention.value_dim, to.value_dim);
  }
  return form;
}

planner::ModelSpec ModelOf(const ModelForm& form) {
  planner::ModelSpec model = form.model;
  for (const LayerGroupForm& group : form.groups) {
    planner::Attention attention = form.attention;
    attention.heads = group.heads.value_or(attention.heads);
    attention.kv_heads = group.kv_heads.value_or(attention.kv_heads);
    attention.head_dim = group.head_dim.value_or(attention.head_dim);
    attention.qkv_bias = group.qkv_bias.value_or(attention.qkv_bias);
    attention.qk_norm = group.qk_norm.value_or(attention.qk_norm);
    attention.qk_norm_over_width = group.qk_norm_over_width.value_or(attention.qk_norm_over_width);
    attention.output_bias = group.output_bias.value_or(attention.output_bias);
    attention.window = group.window.value_or(attention.window);
    attention.chunked = group.chunked.value_or(attention.chunked);
    attention.sinks = group.sinks.value_or(attention.sinks);
    attention.query_rank = group.query_rank.value_or(attention.query_rank);
    attention.kv_rank = group.kv_rank.value_or(attention.kv_rank);
    attention.rotary_dim = group.rotary_dim.value_or(attention.rotary_dim);
    attention.value_dim = group.value_dim.value_or(attention.value_dim);
    attention.kind = attention.kv_rank > 0 ? planner::AttentionKind::kLatent
                                           : planner::AttentionKind::kGroupedQuery;
    model.groups.push_back({.attention = attention, .ffn = group.ffn, .count = group.count});
  }
  return model;
}

}  // namespace meshwright::trial

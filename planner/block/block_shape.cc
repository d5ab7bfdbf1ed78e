#include "planner/block/block_shape.h"

namespace meshwright::planner {

BlockShape WholeShape(const ModelSpec& model, const LayerGroup& group, int64_t keys) {
  const Attention& attention = group.attention;
  return {.tokens = 1,
          .hidden = model.hidden,
          .heads = attention.heads,
          .kv_heads = attention.kv_heads,
          .head_dim = attention.head_dim,
          .ffn_hidden = group.ffn.dense_hidden(),
          .ffn = group.ffn.kind,
          .experts = group.ffn.experts,
          .expert_hidden = group.ffn.has_experts() ? group.ffn.hidden : 0,
          .head_norm = attention.qk_norm,
          .keys = keys,
          .window = attention.window < keys ? attention.window : 0,
          .chunked = attention.chunked,
          .sinks = attention.sinks,
          .attention_kind = attention.kind,
          .value_dim = attention.value_dim,
          .query_rank = attention.query_rank,
          .kv_rank = attention.kv_rank,
          .rotary_dim = attention.rotary_dim,
          .attention_gate = attention.gate,
          .shares_keys = attention.shares_keys,
          .values_are_keys = attention.values_are_keys,
          .index = attention.index,
          .compress_ratio = attention.compress_ratio,
          .output_groups = attention.output_groups,
          .output_rank = attention.output_rank,
          .recurrence = group.recurrence,
          .residual_streams = model.residual_streams,
          .merges_streams = model.merges_streams,
          .layer_input = model.layer_input,
          .layer_input_vocab = model.layer_input_vocab,
          .layers = model.layer_input > 0 ? model.layers() : 0,
          .qkv_bias = attention.qkv_bias,
          .output_bias = attention.output_bias,
          .ffn_bias = group.ffn.bias,
          .head_norm_over_width = attention.qk_norm_over_width,
          .norm = model.norm,
          .arrangement = model.arrangement,
          .positions = model.positions,
          .rotary_share = model.rotary_share,
          .vocab = model.vocab,
          .tied_embeddings = model.tied_embeddings,
          .head_bias = model.head_bias,
          .embedding_norm = model.embedding_norm,
          .learned_positions = model.learned_positions};
}

}  // namespace meshwright::planner

#include "planner/block/block_shape.h"

namespace meshwright::planner {

BlockShape WholeShape(const ModelSpec& model, const LayerGroup& group, int64_t keys) {
  const Attention& attention = group.attention;
  return {.tokens = 1,
          .hidden = model.hidden,
          .heads = attention.heads,
          .kv_heads = attention.kv_heads,
          .head_dim = attention.head_dim,
          .ffn_hidden = group.ffn.hidden,
          .ffn = group.ffn.kind,
          .head_norm = attention.qk_norm,
          .keys = keys,
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

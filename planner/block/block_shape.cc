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
          .vocab = model.vocab,
          .tied_embeddings = model.tied_embeddings};
}

}  // namespace meshwright::planner

#include "planner/block/block_shape.h"

namespace meshwright::planner {

BlockShape WholeShape(const ModelSpec& model, const LayerGroup& group, int64_t keys) {
  return {.tokens = 1,
          .hidden = model.hidden,
          .heads = group.attention.heads,
          .kv_heads = group.attention.kv_heads,
          .head_dim = group.attention.head_dim,
          .ffn_hidden = group.ffn.hidden,
          .ffn = group.ffn.kind,
          .head_norm = group.attention.qk_norm,
          .keys = keys,
          .qkv_bias = group.attention.qkv_bias,
          .vocab = model.vocab,
          .tied_embeddings = model.tied_embeddings};
}

}  // namespace meshwright::planner

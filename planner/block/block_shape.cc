#include "planner/block/block_shape.h"

namespace meshwright::planner {

BlockShape WholeShape(const ModelSpec& model, const LayerGroup& group, int64_t keys) {
  return {.tokens = 1,
          .hidden = model.hidden,
          .heads = model.heads,
          .kv_heads = model.kv_heads,
          .head_dim = model.head_dim,
          .ffn_hidden = group.ffn_hidden,
          .ffn = group.ffn,
          .head_norm = model.qk_norm,
          .keys = keys,
          .qkv_bias = model.qkv_bias,
          .vocab = model.vocab,
          .tied_embeddings = model.tied_embeddings};
}

}  // namespace meshwright::planner

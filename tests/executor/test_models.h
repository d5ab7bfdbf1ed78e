// These functions make small models for executor tests.
#pragma once

#include "planner/spec/model_spec.h"
#include "planner/spec/training_spec.h"

namespace meshwright::trial {

// Returns a model with 4 layers, a hidden width of 32, 4 query heads and 2 key/value heads of width
// 8, an FFN width of 48, and a vocabulary of 64.
inline planner::ModelSpec TinyModel() {
  planner::ModelSpec model;
  model.name = "tiny";
  model.hidden = 32;
  model.vocab = 64;
  model.norm_epsilon = 1e-5;
  model.rope_theta = 10000.0;
  model.groups = {
      {.attention = {.heads = 4, .kv_heads = 2, .head_dim = 8}, .ffn = {.hidden = 48}, .count = 4}};
  return model;
}

// Returns latent attention with 4 heads, a query latent of rank 10 and a key/value latent of rank
// 6. RoPE rotates a third of each query and key.
inline planner::Attention TinyLatentAttention(int64_t value_dim) {
  return {.kind = planner::AttentionKind::kLatent,
          .heads = 4,
          .kv_heads = 4,
          .head_dim = 12,
          .value_dim = value_dim,
          .query_rank = 10,
          .kv_rank = 6,
          .rotary_dim = 4};
}

inline planner::TrainingSpec TinyTraining() {
  return {.seq_len = 16, .global_batch = 8, .precision = planner::Precision::kFp32};
}

}  // namespace meshwright::trial

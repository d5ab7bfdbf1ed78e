// Small models for executor tests.
#pragma once

#include "planner/spec/model_spec.h"
#include "planner/spec/training_spec.h"

namespace meshwright::trial {

// 4 layers, hidden 32, 4 query heads over 2 key/value heads of 8, FFN 48, vocabulary 64.
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

// 4 heads over latents of 10 and 6; a third of each query and key is rotated.
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

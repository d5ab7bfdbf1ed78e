// NarrowModel() is a small model for tests with products in fp8. Under every layout in these tests,
// a rank's widths are multiples of 128, so that no quantisation tile is divided between ranks.
#pragma once

#include "planner/spec/model_spec.h"
#include "planner/spec/training_spec.h"

namespace meshwright::trial {

// The model has a hidden width of 128, 2 query heads and by default 2 key/value heads of width 128,
// an FFN width of 256, and a vocabulary of 64.
inline planner::ModelSpec NarrowModel(int64_t layers, int64_t kv_heads = 2) {
  planner::ModelSpec model;
  model.name = "narrow";
  model.hidden = 128;
  model.vocab = 64;
  model.norm_epsilon = 1e-5;
  model.rope_theta = 10000.0;
  model.groups = {{.attention = {.heads = 2, .kv_heads = kv_heads, .head_dim = 128},
                   .ffn = {.hidden = 256},
                   .count = layers}};
  return model;
}

inline planner::TrainingSpec NarrowTraining(planner::Precision around_products) {
  return {.seq_len = 256,
          .global_batch = 4,
          .precision = planner::Precision::kFp8Blockwise,
          .around_products = around_products};
}

}  // namespace meshwright::trial

// The published 4D memory estimator (Fujii et al., arXiv 2411.06465): bf16 mixed precision, Adam,
// FlashAttention, GQA, SwiGLU, RMSNorm, tensor parallel with sequence parallel.
//
// These functions are the paper's own terms. The estimate of a layout
// (planner/memory/rank_memory.h) has more terms, and must agree with these where both apply.
#pragma once

#include <cstdint>

#include "planner/layout/layout.h"
#include "planner/spec/model_spec.h"
#include "planner/spec/training_spec.h"

namespace meshwright::planner {

// Returns the bytes of weights, fp32 gradients and Adam states per parameter: 18, or with a
// distributed optimizer 6 + 12 / sharding_ranks.
double FujiiStateBytesPerParameter(bool distributed_optimizer, int64_t sharding_ranks);

// Returns the bytes of activations of one layer and one micro-batch on one rank:
// s b h (12 + 4 k/a + 8 f/h) / (t c).
double FujiiActivationBytesPerLayer(const ModelSpec& model, const LayerGroup& group,
                                    const Layout& layout, int64_t seq_len);

// Returns the bytes of activations on the first stage under 1F1B, which holds min(m, p)
// micro-batches of its L/p layers.
double FujiiFirstStageActivationBytes(const ModelSpec& model, const Layout& layout,
                                      const TrainingSpec& training);

}  // namespace meshwright::planner

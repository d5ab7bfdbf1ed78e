// Computes the published 4D memory estimate (Fujii et al., arXiv 2411.06465). It assumes bf16 mixed
// precision, Adam, FlashAttention, GQA, SwiGLU, RMSNorm, and tensor parallelism with sequence
// parallelism.
//
// The functions below are the paper's own terms. The estimate of a layout
// (planner/memory/rank_memory.h) has more terms, and must agree with these if no other term
// applies.
#pragma once

#include <cstdint>

#include "planner/layout/layout.h"
#include "planner/spec/model_spec.h"
#include "planner/spec/training_spec.h"

namespace meshwright::planner {

// Returns the bytes of weights, fp32 gradients and Adam states per parameter: 18, or with a
// distributed optimizer 6 + 12 / sharding_ranks.
double FujiiStateBytesPerParameter(bool distributed_optimizer, int64_t sharding_ranks);

// Returns the bytes of activations of one layer and one micro-batch on one rank: s b h (12 + 4 k/a
// + 8 f/h) / (t c). s is the sequence length, b the micro-batch, h the hidden size, a the heads, k
// the KV heads, f the FFN width, t tp and c cp.
double FujiiActivationBytesPerLayer(const ModelSpec& model, const LayerGroup& group,
                                    const Layout& layout, int64_t seq_len);

// Returns the bytes of activations on the first stage under 1F1B. The stage has 1 / pp of the
// layers and holds up to pp micro-batches.
double FujiiFirstStageActivationBytes(const ModelSpec& model, const Layout& layout,
                                      const TrainingSpec& training);

}  // namespace meshwright::planner

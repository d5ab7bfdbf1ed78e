// Attention sinks (GPT-OSS): per query head, a learned score of a key without a value that joins
// the softmax of every query.
//
// Kernels attend to the real keys only. A sink is then added to the softmax of the whole sequence
// once, however keys were divided into tiles or ranks. From the resulting output and log-sum-exp, a
// kernel's backward yields the right gradients of queries, keys and values, and the sink's own
// follows from the same two.
#pragma once

#include <ATen/core/Tensor.h>

#include "executor/worker/model/attention_core.h"
#include "executor/worker/state/rank_context.h"

namespace meshwright::worker {

// Adds `sinks` [heads], those of this rank's query heads, to attention over all keys, in place.
void JoinSinks(const RankContext& context, const AttentionShape& shape, const at::Tensor& sinks,
               const AttentionResult& attention);

// gradient [heads], accumulator dtype, += that of the sinks. `attention` is the result of
// JoinSinks(), doutput [tokens, heads * head_dim] the gradient of its output.
void AddSinkGradient(const RankContext& context, const AttentionShape& shape,
                     const at::Tensor& sinks, const AttentionResult& attention,
                     const at::Tensor& doutput, const at::Tensor& gradient);

}  // namespace meshwright::worker

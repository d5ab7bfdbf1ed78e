// Sinks of attention (GPT-OSS): a learned score of each query head, of a key without a value, that
// joins the softmax of all its queries.
//
// Kernels attend to the keys alone. A sink then takes its share of the whole sequence's softmax,
// once, however the keys were divided into tiles or over ranks. With the output and the log-sum-exp
// that it leaves, a kernel's backward gives the right gradients of queries, keys and values; the
// sink's own follows from the same two.
#pragma once

#include <ATen/core/Tensor.h>

#include "executor/worker/model/attention_core.h"
#include "executor/worker/state/rank_context.h"

namespace meshwright::worker {

// Adds `sinks` [heads], of this rank's query heads, to attention to all keys, in place.
void JoinSinks(const RankContext& context, const AttentionShape& shape, const at::Tensor& sinks,
               const AttentionResult& attention);

// gradient [heads], accumulator dtype, += that of the sinks. `attention` is what JoinSinks() made,
// doutput [tokens, heads * head_dim] the gradient of its output.
void AddSinkGradient(const RankContext& context, const AttentionShape& shape,
                     const at::Tensor& sinks, const AttentionResult& attention,
                     const at::Tensor& doutput, const at::Tensor& gradient);

}  // namespace meshwright::worker

// JoinSinks() adds attention sinks (GPT-OSS) to a softmax. A sink is a learned score per query
// head. It joins the softmax of every query like the score of a key without a value.
//
// Kernels attend to the real keys only. The sink is then added once to the softmax of the whole
// sequence, however the keys were divided into tiles or over ranks. With the resulting output and
// log-sum-exp, a kernel's backward yields the right gradients of queries, keys and values, and the
// gradient of the sink follows as well.
#pragma once

#include <ATen/core/Tensor.h>

#include "executor/worker/model/attention_core.h"
#include "executor/worker/state/rank_context.h"

namespace meshwright::worker {

// Adds the sinks [heads] of this rank's query heads to the softmax of attention to all keys.
// Changes `attention` in place.
void JoinSinks(const RankContext& context, const AttentionShape& shape, const at::Tensor& sinks,
               const AttentionResult& attention);

// Adds the gradient of the sinks to `gradient` [heads], which has the accumulator dtype.
// `attention` is the result of JoinSinks(), and `doutput` [tokens, heads * head_dim] the gradient
// of its output.
void AddSinkGradient(const RankContext& context, const AttentionShape& shape,
                     const at::Tensor& sinks, const AttentionResult& attention,
                     const at::Tensor& doutput, const at::Tensor& gradient);

}  // namespace meshwright::worker

// Causal attention over a sequence that a CP group divides: keys and values travel around the ring
// of its ranks while each rank attends its own queries to what has come (ring attention, arXiv
// 2310.01889), with the balanced shares of planner/layout/sequence_share.h.
//
// After h hops a rank has the keys of rank r - h. It sees all its own ones up to each query's
// place, of a rank before it the first half, and those of a rank behind it with the second half of
// its queries alone: after the first round every hop has the same work everywhere. The partial
// results are merged by their log-sum-exp. In the backward the gradients of keys and values travel
// one hop behind them and end at their owner. All sums over hops have the accumulator type, also
// those that travel: many small parts would be lost in bf16.
//
// Holds one message of keys and values, two while one is under way, and in the backward as many of
// gradients; a message is what a rank's keys and values take, or their gradients in the accumulator
// type.
#pragma once

#include <ATen/core/Tensor.h>

#include "executor/worker/model/attention_core.h"
#include "executor/worker/state/rank_context.h"

namespace meshwright::worker {

// As AttentionForward() and AttentionBackward(), of this rank's tokens. `context.groups.cp` is set;
// all its ranks call it. `shape.seq_len` is even.
AttentionResult RingAttentionForward(RankContext& context, const AttentionShape& shape,
                                     const at::Tensor& q, const at::Tensor& k, const at::Tensor& v);
AttentionGradient RingAttentionBackward(RankContext& context, const AttentionShape& shape,
                                        const at::Tensor& doutput, const at::Tensor& q,
                                        const at::Tensor& k, const at::Tensor& v,
                                        const AttentionResult& forward);

}  // namespace meshwright::worker

// Causal attention over a sequence divided over a CP group: keys and values travel around the ring
// of ranks while each rank attends its own queries to those that have arrived (ring attention,
// arXiv 2310.01889), with the balanced shares of planner/layout/sequence_share.h.
//
// After h hops a rank has the keys of rank r - h. It sees its own keys up to each query's position,
// the first half of an earlier rank's keys, and a later rank's keys with the second half of its
// queries only: after the first round every hop has equal work everywhere. Partial results are
// merged by their log-sum-exp. In the backward, gradients of keys and values travel one hop behind
// them and end at their owner. Sums over hops, including those that travel, have the accumulator
// type: many small parts would be lost in bf16.
//
// Holds one message of keys and values, two while one is in transit, and in the backward as many of
// gradients. A message has the size of a rank's keys and values, or of their gradients in the
// accumulator type.
#pragma once

#include <ATen/core/Tensor.h>

#include "executor/worker/model/attention_core.h"
#include "executor/worker/state/rank_context.h"

namespace meshwright::worker {

// Like AttentionForward() and AttentionBackward(), for this rank's tokens. All ranks of the CP
// group must call it. REQUIRES: `context.groups.cp` is set and `shape.seq_len` is even.
AttentionResult RingAttentionForward(RankContext& context, const AttentionShape& shape,
                                     const at::Tensor& q, const at::Tensor& k, const at::Tensor& v);
AttentionGradient RingAttentionBackward(RankContext& context, const AttentionShape& shape,
                                        const at::Tensor& doutput, const at::Tensor& q,
                                        const at::Tensor& k, const at::Tensor& v,
                                        const AttentionResult& forward);

}  // namespace meshwright::worker

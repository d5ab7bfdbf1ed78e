// RingAttentionForward() and RingAttentionBackward() compute causal attention to a sequence that is
// divided over a CP group (ring attention, arXiv 2310.01889). Keys and values travel around the
// ring of ranks, while each rank attends with its own queries to the keys that have arrived. Ranks
// have the balanced shares of planner/layout/sequence_share.h.
//
// After h hops, rank r has the keys of rank r - h. A rank's queries see its own keys up to their
// own position. All queries of a rank see the first half of an earlier rank's keys. Only the second
// half of a rank's queries sees a later rank's keys. After the first round, every hop therefore has
// equal work on all ranks. Partial results are merged by their log-sum-exp. In the backward, the
// gradients of keys and values travel one hop behind the keys and values, and end at the keys'
// owner. All sums over hops have the accumulator type, since many small parts would be lost in
// bf16.
//
// A rank holds one message of keys and values, or two while one is in transit. The backward also
// holds as many messages of gradients, and the sum of the gradients of the rank's own keys and
// values. A message has the size of a rank's keys and values, or of their gradients in the
// accumulator type.
#pragma once

#include <ATen/core/Tensor.h>

#include "executor/worker/model/attention_core.h"
#include "executor/worker/state/rank_context.h"

namespace meshwright::worker {

// These functions are AttentionForward() and AttentionBackward() for this rank's tokens of divided
// sequences. All ranks of the CP group must call them. REQUIRES: `context.groups.cp` is set and
// `shape.seq_len` is even.
AttentionResult RingAttentionForward(RankContext& context, const AttentionShape& shape,
                                     const at::Tensor& q, const at::Tensor& k, const at::Tensor& v);
AttentionGradient RingAttentionBackward(RankContext& context, const AttentionShape& shape,
                                        const at::Tensor& doutput, const at::Tensor& q,
                                        const at::Tensor& k, const at::Tensor& v,
                                        const AttentionResult& forward);

}  // namespace meshwright::worker

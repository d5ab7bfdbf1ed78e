// AttentionForward() and AttentionBackward() compute causal softmax attention with grouped queries,
// over one rank's whole sequences.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "executor/worker/model/attention_kernel.h"
#include "kernels/operators.h"
#include "planner/block/attention_tiles.h"

namespace meshwright::worker {

// Heads and tokens of one rank. With grouped queries, query head i reads key/value head i /
// (heads/kv_heads).
struct AttentionShape {
  int64_t batch = 0;
  int64_t seq_len = 0;
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t head_dim = 0;
  int64_t value_dim = 0;  // width of a head's values; 0 stands for head_dim
  int64_t window = 0;     // number of the newest keys that a query sees; 0 stands for all keys
  bool chunked = false;   // a query sees only the keys of its own chunk of `window` tokens
  AttentionBackend backend = AttentionBackend::kCpuFlash;

  // Returns the width of a head's values.
  int64_t value_head_dim() const { return value_dim > 0 ? value_dim : head_dim; }
  // Returns the number of kernel calls: one if the kernel supports grouped queries. Otherwise each
  // call takes one query head per key/value head, so that keys and values are never repeated.
  int64_t calls() const { return TakesGroupedQueries(backend) ? 1 : heads / kv_heads; }
  // Returns the sequence that `cp` ranks share, in the form that planner::AttentionTiles() takes.
  planner::AttentionSpan span(int32_t cp) const {
    return {.seq_len = seq_len * cp,
            .cp = cp,
            .window = window,
            .chunked = chunked,
            .tile_queries = TakesBands(backend) ? 0 : planner::kWindowTileQueries};
  }
};

struct AttentionResult {
  at::Tensor output;                            // [tokens, heads * value_head_dim()]
  std::vector<AttentionStatistics> statistics;  // one per call
};

struct AttentionGradient {
  std::vector<at::Tensor> q;  // per call: [batch, seq_len, heads / calls, head_dim]
  at::Tensor k;               // [batch, seq_len, kv_heads, head_dim]
  at::Tensor v;               // [batch, seq_len, kv_heads, value_head_dim()]
};

// Returns a view of one call's query heads: the heads `call`, `call` + calls(), ... of `heads`
// [batch, seq_len, heads, head_dim].
at::Tensor HeadsOfCall(const AttentionShape& shape, const at::Tensor& heads, int64_t call);

// Returns a view of attention's output or its gradient as [batch, seq_len, heads,
// value_head_dim()].
at::Tensor HeadsOfOutput(const AttentionShape& shape, const at::Tensor& output);

// Returns the strides of `heads` [batch, queries, heads, head_dim] in the form that kernels take.
inline kernels::HeadStrides StridesOfHeads(const at::Tensor& heads) {
  return {.batch = heads.stride(0), .query = heads.stride(1), .head = heads.stride(2)};
}
// Returns the strides of `statistic` [batch, heads, queries] in that form.
inline kernels::HeadStrides StridesOfStatistic(const at::Tensor& statistic) {
  return {.batch = statistic.stride(0), .query = statistic.stride(2), .head = statistic.stride(1)};
}

// Returns the tensor options of `tensor`, but with its accumulator type, for sums of its elements.
at::TensorOptions InAccumulatorType(const at::Tensor& tensor);

// Returns a view of the tokens in `range`; `dimension` is the token dimension.
at::Tensor TokensOf(const planner::TokenRange& range, const at::Tensor& tensor,
                    int64_t dimension = 1);

// Computes attention over whole sequences. q is [batch, seq_len, heads, head_dim], k is [batch,
// seq_len, kv_heads, head_dim], and v is [batch, seq_len, kv_heads, value_head_dim()]. All three
// may be views with a dense last dimension. With a window, the kernel is called once per tile of
// planner/block/attention_tiles.h, unless one tile covers the sequence.
AttentionResult AttentionForward(const AttentionShape& shape, const at::Tensor& q,
                                 const at::Tensor& k, const at::Tensor& v);

// Returns the gradients of q, k and v. `doutput` has the shape of the output.
AttentionGradient AttentionBackward(const AttentionShape& shape, const at::Tensor& doutput,
                                    const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                    const AttentionResult& forward);

}  // namespace meshwright::worker

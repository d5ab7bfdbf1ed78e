// Causal softmax attention of one rank's whole sequences and its gradient, with grouped queries.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "executor/worker/model/attention_kernel.h"
#include "planner/block/attention_tiles.h"

namespace meshwright::worker {

// Heads and tokens of one rank. With grouped queries, query head i reads key/value head
// i / (heads/kv_heads).
struct AttentionShape {
  int64_t batch = 0;
  int64_t seq_len = 0;
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t head_dim = 0;
  int64_t value_dim = 0;  // of a head's values; 0: head_dim
  int64_t window = 0;     // newest keys that a query sees; 0: all before it
  bool chunked = false;   // it sees those of its own chunk of `window` tokens instead
  AttentionBackend backend = AttentionBackend::kCpuFlash;

  // Calls of the kernel. One that wants as many key as query heads attends the query heads of a
  // group one after the other, so that keys and values are never repeated.
  int64_t value_head_dim() const { return value_dim > 0 ? value_dim : head_dim; }
  int64_t calls() const { return TakesGroupedQueries(backend) ? 1 : heads / kv_heads; }
  // The sequence that `cp` ranks share, as the kernel is called for it.
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
  at::Tensor v;               // as wide as values
};

// The query heads of one call, `call`, `call` + calls, ... of [batch, seq_len, heads, head_dim]. A
// view.
at::Tensor HeadsOfCall(const AttentionShape& shape, const at::Tensor& heads, int64_t call);

// Attention's output, or its gradient, [batch, seq_len, heads, value_head_dim()]. A view.
at::Tensor HeadsOfOutput(const AttentionShape& shape, const at::Tensor& output);

// What sums of such a tensor's parts take.
at::TensorOptions InAccumulatorType(const at::Tensor& tensor);

// The tokens of a range, of which `dimension` counts the tokens. A view.
at::Tensor TokensOf(const planner::TokenRange& range, const at::Tensor& tensor,
                    int64_t dimension = 1);

// q [batch, seq_len, heads, head_dim], k [batch, seq_len, kv_heads, head_dim] and v likewise, with
// value_head_dim(); views whose last dimension is dense. With a window the kernel is called for one
// tile of planner/block/attention_tiles.h after the other, unless one is all there is.
AttentionResult AttentionForward(const AttentionShape& shape, const at::Tensor& q,
                                 const at::Tensor& k, const at::Tensor& v);

// doutput has the shape of the output.
AttentionGradient AttentionBackward(const AttentionShape& shape, const at::Tensor& doutput,
                                    const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                    const AttentionResult& forward);

}  // namespace meshwright::worker

// Causal softmax attention of one rank's whole sequences and its gradient, with grouped queries.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "executor/worker/model/attention_kernel.h"

namespace meshwright::worker {

// Heads and tokens of one rank. With grouped queries, query head i reads key/value head
// i / (heads/kv_heads).
struct AttentionShape {
  int64_t batch = 0;
  int64_t seq_len = 0;
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t head_dim = 0;
  AttentionBackend backend = AttentionBackend::kCpuFlash;

  // Calls of the kernel. One that wants as many key as query heads attends the query heads of a
  // group one after the other, so that keys and values are never repeated.
  int64_t calls() const { return TakesGroupedQueries(backend) ? 1 : heads / kv_heads; }
};

struct AttentionResult {
  at::Tensor output;                            // [tokens, heads * head_dim]
  std::vector<AttentionStatistics> statistics;  // one per call
};

struct AttentionGradient {
  std::vector<at::Tensor> q;  // per call: [batch, seq_len, heads / calls, head_dim]
  at::Tensor k;               // [batch, seq_len, kv_heads, head_dim]
  at::Tensor v;
};

// The query heads of one call, `call`, `call` + calls, ... of [batch, seq_len, heads, head_dim]. A
// view.
at::Tensor HeadsOfCall(const AttentionShape& shape, const at::Tensor& heads, int64_t call);

// q [batch, seq_len, heads, head_dim], k and v [batch, seq_len, kv_heads, head_dim]; views whose
// last dimension is dense.
AttentionResult AttentionForward(const AttentionShape& shape, const at::Tensor& q,
                                 const at::Tensor& k, const at::Tensor& v);

// doutput [tokens, heads * head_dim].
AttentionGradient AttentionBackward(const AttentionShape& shape, const at::Tensor& doutput,
                                    const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                    const AttentionResult& forward);

}  // namespace meshwright::worker

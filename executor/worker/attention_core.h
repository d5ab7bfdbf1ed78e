// Causal softmax attention and its gradient, through ATen's fused kernels: flash attention on a CPU
// and on devices that have it for the dtype, memory-efficient attention otherwise.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace meshwright {

// Heads of one rank. With grouped queries, query head i reads key/value head i / (heads/kv_heads).
struct AttentionShape {
  int64_t batch = 0;
  int64_t seq_len = 0;
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t head_dim = 0;

  int64_t group() const { return heads / kv_heads; }
};

// What the backward needs beside q, k, v and the output.
struct AttentionStatistics {
  at::Tensor log_sum_exp;  // accumulator dtype, one per query head and token
  at::Tensor random_seed;  // of the device kernels; unused without dropout, but passed back
  at::Tensor random_offset;
};

struct AttentionResult {
  at::Tensor output;                            // [tokens, heads * head_dim]
  std::vector<AttentionStatistics> statistics;  // one per query head of a group
};

// q [batch, seq_len, heads, head_dim], k and v [batch, seq_len, kv_heads, head_dim]; views whose
// last dimension is dense. K and V are never repeated: the query heads of a group are attended one
// after the other.
AttentionResult AttentionForward(const AttentionShape& shape, const at::Tensor& q,
                                 const at::Tensor& k, const at::Tensor& v);

struct AttentionGradient {
  std::vector<at::Tensor> q;  // per query head of a group: [batch, seq_len, kv_heads, head_dim]
  at::Tensor k;               // [batch, seq_len, kv_heads, head_dim]
  at::Tensor v;
};

// doutput [tokens, heads * head_dim].
AttentionGradient AttentionBackward(const AttentionShape& shape, const at::Tensor& doutput,
                                    const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                    const AttentionResult& forward);

}  // namespace meshwright

// One call of ATen's fused attention, forward or backward, on some queries and some keys.
//
// On a CPU that is ATen's flash attention. A device offers flash attention and cuDNN's for bf16,
// and memory-efficient attention for fp32.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "planner/block/attention_tiles.h"
#include "planner/layout/layout.h"

namespace meshwright::worker {

enum class AttentionBackend : uint8_t { kCpuFlash, kFlash, kCudnn, kEfficient };

// What a layout's choice of kernel means for tensors of `dtype` on `device`.
AttentionBackend AttentionBackendOf(planner::AttentionKernel kernel, c10::Device device,
                                    at::ScalarType dtype);

// Whether its kernel knows bands of keys, so that nobody makes masks for it.
bool TakesBands(AttentionBackend backend);

// Whether several query heads may share a key/value head in one call.
bool TakesGroupedQueries(AttentionBackend backend);

// What the backward needs beside q, k, v and the output.
struct AttentionStatistics {
  at::Tensor log_sum_exp;  // fp32 (fp64 of fp64): [batch, heads, queries]
  at::Tensor random_seed;  // of the device kernels; unused without dropout, but passed back
  at::Tensor random_offset;
};

struct AttendedHeads {
  at::Tensor output;  // [batch, queries, heads, head_dim]
  AttentionStatistics statistics;
};

// Which keys a query sees: all of them unless something is set here.
struct KeySight {
  bool causal = false;   // as many queries as keys, and each sees the keys up to its own place
  at::Tensor mask = {};  // [queries, keys], accumulator dtype, added to the scores; on a CPU
  std::optional<planner::KeyBand> band = {};  // where TakesBands()
};

// Softmax attention, head by head. q [batch, queries, heads, head_dim], k and v [batch, keys,
// heads or a divisor of it where TakesGroupedQueries(), head_dim]; views whose last dimension is
// dense. Values may be narrower than keys, and what comes of them then is a view; kernels that want
// them alike get copies filled up with zeros.
AttendedHeads AttendForward(AttentionBackend backend, const at::Tensor& q, const at::Tensor& k,
                            const at::Tensor& v, const KeySight& sight);

// Shapes of q, k and v.
struct AttendedGradient {
  at::Tensor q;
  at::Tensor k;
  at::Tensor v;
};

// With the output and the log-sum-exp of attention to more keys than these, it gives these keys'
// share of the gradients, which add up.
AttendedGradient AttendBackward(AttentionBackend backend, const at::Tensor& doutput,
                                const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                const at::Tensor& output, const AttentionStatistics& statistics,
                                const KeySight& sight);

}  // namespace meshwright::worker

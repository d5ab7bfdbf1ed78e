// One call of ATen's fused attention, forward or backward, on some queries and some keys.
//
// On a CPU it is ATen's flash attention. A GPU has flash attention and cuDNN's for bf16, and
// memory-efficient attention for fp32.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "planner/block/attention_tiles.h"
#include "planner/layout/layout.h"

namespace meshwright::worker {

enum class AttentionBackend : uint8_t { kCpuFlash, kFlash, kCudnn, kEfficient };

// Returns the backend for a layout's choice of kernel and tensors of `dtype` on `device`.
AttentionBackend AttentionBackendOf(planner::AttentionKernel kernel, c10::Device device,
                                    at::ScalarType dtype);

// Whether the kernel supports bands of keys, so that no masks are needed.
bool TakesBands(AttentionBackend backend);

// Whether several query heads may share a key/value head in one call.
bool TakesGroupedQueries(AttentionBackend backend);

// What the backward needs beside q, k, v and the output.
struct AttentionStatistics {
  at::Tensor log_sum_exp;  // fp32 (fp64 for fp64): [batch, heads, queries]
  at::Tensor random_seed;  // of the GPU kernels; unused without dropout, but passed back
  at::Tensor random_offset;
};

struct AttendedHeads {
  at::Tensor output;  // [batch, queries, heads, head_dim]
  AttentionStatistics statistics;
};

// Which keys a query sees; all of them by default.
struct KeySight {
  bool causal = false;   // as many queries as keys, and each sees the keys up to its own position
  at::Tensor mask = {};  // [queries, keys], accumulator dtype, added to the scores; CPU only
  std::optional<planner::KeyBand> band = {};  // only where TakesBands()
};

// Softmax attention per head. q is [batch, queries, heads, head_dim], k and v [batch, keys, heads
// (or a divisor of it where TakesGroupedQueries()), head_dim]; views with a dense last dimension.
// Values may be narrower than keys, and the output is then a view; kernels that need equal widths
// get zero-padded copies.
AttendedHeads AttendForward(AttentionBackend backend, const at::Tensor& q, const at::Tensor& k,
                            const at::Tensor& v, const KeySight& sight);

// Shaped like q, k and v.
struct AttendedGradient {
  at::Tensor q;
  at::Tensor k;
  at::Tensor v;
};

// Given the output and log-sum-exp of attention to a superset of these keys, returns these keys'
// share of the gradients; the shares add up.
AttendedGradient AttendBackward(AttentionBackend backend, const at::Tensor& doutput,
                                const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                const at::Tensor& output, const AttentionStatistics& statistics,
                                const KeySight& sight);

}  // namespace meshwright::worker

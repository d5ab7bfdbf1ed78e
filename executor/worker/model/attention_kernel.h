// AttendForward() and AttendBackward() each make one call of ATen's fused attention, on some
// queries and some keys.
//
// On a CPU, the kernel is ATen's flash attention. On a GPU, it is flash attention or cuDNN's
// attention for bf16, and memory-efficient attention for fp32.
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

// Returns whether the kernel supports bands of keys, which make masks unnecessary.
bool TakesBands(AttentionBackend backend);

// Returns whether several query heads may share a key/value head in one call.
bool TakesGroupedQueries(AttentionBackend backend);

// The tensors that the backward needs in addition to q, k, v and the output.
struct AttentionStatistics {
  at::Tensor log_sum_exp;  // fp32 (fp64 for fp64): [batch, heads, queries]
  at::Tensor random_seed;  // of GPU kernels, whose backward takes it; unused without dropout
  at::Tensor random_offset;
};

struct AttendedHeads {
  at::Tensor output;  // [batch, queries, heads, head_dim]
  AttentionStatistics statistics;
};

// The keys that a query sees; by default it sees all keys.
struct KeySight {
  bool causal = false;   // a query sees keys up to its own position; needs as many keys as queries
  at::Tensor mask = {};  // [queries, keys], accumulator dtype, added to the scores; CPU only
  std::optional<planner::KeyBand> band = {};  // only if TakesBands()
};

// Computes softmax attention per head. q is [batch, queries, heads, head_dim]. k and v are [batch,
// keys, heads, head_dim]; if TakesGroupedQueries(), their number of heads may be a divisor of q's.
// All three may be views with a dense last dimension. Values may be narrower than keys: for kernels
// that need equal widths, values are copied with zero padding, and the output is a view.
AttendedHeads AttendForward(AttentionBackend backend, const at::Tensor& q, const at::Tensor& k,
                            const at::Tensor& v, const KeySight& sight);

// The gradients, shaped like q, k and v.
struct AttendedGradient {
  at::Tensor q;
  at::Tensor k;
  at::Tensor v;
};

// Returns the part of the gradients that comes from the given keys. `output` and `statistics` are
// the result of attention to all keys, of which the given ones may be a subset. The parts of
// disjoint subsets that cover all keys add up to the gradients.
AttendedGradient AttendBackward(AttentionBackend backend, const at::Tensor& doutput,
                                const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                const at::Tensor& output, const AttentionStatistics& statistics,
                                const KeySight& sight);

}  // namespace meshwright::worker

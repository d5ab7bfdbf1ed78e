// Computes the bytes that one call of fused attention's backward holds in Meshwright's own worker,
// in addition to the call's inputs and results.
//
// On CUDA the allocator rounds every tensor up to 512 bytes, which is not counted here. The bytes
// that a kernel launch takes are unknown and therefore not counted.
#pragma once

#include <cstdint>

#include "planner/worker_memory/worker_shape.h"

namespace meshwright::planner {

// Returns whether one call computes all query heads, as the kernels in bf16 do. The kernel in fp32
// needs as many key heads as query heads, so query heads that share a key head are computed in
// separate calls, one after another.
bool TakesAllQueryHeads(const BlockShape& shape);

// Returns the bytes of one call on `queries` queries and `keys` keys of each sequence. On CUDA this
// is CudaAttentionScratchBytes().
int64_t FlashScratchBytes(const WorkerShape& shape, int64_t queries, int64_t keys);

// Returns the bytes of such a call on CUDA. The call holds
//
//   in bf16   The sums of output times gradient, in fp32: [batch, heads, queries rounded up to
//             128].
//             The queries' gradient, in fp32: [batch, queries rounded up to 128, heads, head_dim
//             rounded up to 32, or to 64 if it is above 128].
//             If query heads share keys, the gradients of keys and values for each query head.
//             Source: Dao's FlashAttention-2 as ATen has it (mha_bwd in flash_api.cpp of Torch
//             2.11). cuDNN keeps the same in its workspace (sdpa_backward of cudnn-frontend 1);
//             what its engine adds is not known.
//   in fp32   A copy of the log-sum-exp, with queries rounded up to 32.
//             Output times gradient, as wide as values, and its sums.
//             Source: ATen's memory-efficient attention (_efficient_attention_backward).
int64_t CudaAttentionScratchBytes(const WorkerShape& shape, int64_t queries, int64_t keys);

}  // namespace meshwright::planner

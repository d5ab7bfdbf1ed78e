// Computes the bytes that one call of fused attention's backward holds in Meshwright's own worker,
// in addition to what it reads and returns.
//
// On CUDA the allocator rounds every tensor up to 512 bytes, which is not counted here. What a
// kernel launch takes is not known and not counted either.
#pragma once

#include <cstdint>

#include "planner/worker_memory/worker_shape.h"

namespace meshwright::planner {

// Returns whether one call computes all query heads. The kernels in bf16 do. The one in fp32 needs
// as many key heads as query heads, so the query heads that share a key head are computed one after
// another.
bool TakesAllQueryHeads(const BlockShape& shape);

// Returns the bytes of one call on `queries` queries and `keys` keys of each sequence. On CUDA they
// are CudaAttentionScratchBytes().
int64_t FlashScratchBytes(const WorkerShape& shape, int64_t queries, int64_t keys);

// Returns the same for a call on CUDA:
//   bf16   the sums of output times gradient for each query and head in fp32, [batch, heads,
//          queries to 128]; the queries' gradient in fp32, [batch, queries to 128, heads, head_dim
//          to 32, above 128 to 64]; where query heads share keys, the gradients of keys and values
//          for each query head. Dao's FlashAttention-2 as ATen has it (mha_bwd in flash_api.cpp of
//          Torch 2.11). cuDNN keeps the same in its workspace (sdpa_backward of cudnn-frontend 1);
//          what its engine adds is not known.
//   fp32   the log-sum-exp again, queries to 32; output times gradient, as wide as values, and its
//          sums. ATen's memory-efficient attention (_efficient_attention_backward).
int64_t CudaAttentionScratchBytes(const WorkerShape& shape, int64_t queries, int64_t keys);

}  // namespace meshwright::planner

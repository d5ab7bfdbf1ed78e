// What one transformer block keeps from its forward to its backward, tensor by tensor.
//
// One table: the memory estimate sums it and the worker's blocks save exactly these tensors, so
// that the estimate is right to the byte. Sizes are those of one micro-batch on one rank.
#pragma once

#include <cstdint>

#include "absl/types/span.h"
#include "planner/block/block_shape.h"
#include "planner/block/operator.h"

namespace meshwright::planner {

using BlockDims = BlockShape;

// Bytes of `tensor` on one rank (0 where the block does not keep it).
int64_t KeptBytes(KeptTensor tensor, const BlockDims& dims);

// Queries and keys on one side of the norm of their heads, and its deviations; 0 without one.
int64_t HeadNormBytes(const BlockDims& dims);

// Every kept tensor, in the order in which a forward pass makes them.
absl::Span<const KeptTensor> KeptTensors();

// What a block keeps for one micro-batch without recompute. With bf16, sequence parallel, fused
// norms and silu kept this is s b h (12 + 4 k/a + 8 f/h) / (t c) plus the statistics (Fujii et
// al., arXiv 2411.06465).
int64_t KeptBytesPerBlock(const BlockDims& dims);

// Elements of the score matrix of one micro-batch on one rank.
int64_t ScoreElements(const BlockDims& dims);

// Selective recompute: a score matrix is computed again (Korthikanti et al., arXiv 2205.05198), or
// norm outputs, silu and the product.
int64_t SelectiveKeptBytesPerBlock(const BlockDims& dims);

// Full recompute: only the block's input.
int64_t CheckpointBytesPerBlock(const BlockDims& dims);

}  // namespace meshwright::planner

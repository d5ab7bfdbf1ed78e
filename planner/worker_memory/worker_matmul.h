// Computes the bytes that a matrix product of Meshwright's own worker holds while it is computed,
// in addition to its operands and its result. Only products in bf16 on a CPU hold any: ATen makes
// an fp32 copy of the product (by oneDNN's kernels for AVX-512; without them a run takes less, up
// to 15 % in models of a few MB), so the worker computes it in pieces. On CUDA the workspace of
// cuBLAS is held throughout and is counted with the layout (planner/memory/exact_memory.h).
#pragma once

#include <cstdint>

#include "planner/block/block_shape.h"
#include "planner/block/operator.h"

namespace meshwright::planner {

// Elements of a bf16 matrix product that a CPU computes at once. A piece has at least one row.
inline constexpr int64_t kMatmulPieceElements = int64_t{1} << 20;

// Returns how many rows of a product of `rows` x `columns` are computed at once.
int64_t MatmulPieceRows(int64_t rows, int64_t columns);

// Returns the bytes held in addition to a product of `rows` x `columns`: a piece of it in fp32.
int64_t MatmulBytes(int64_t rows, int64_t columns, const BlockShape& shape);

// Returns the bytes held in addition to the result of a pass. A weight gradient is added to the
// accumulated one, so it takes a piece in bf16 as well as in fp32.
int64_t MatmulPassBytes(const MatmulShape& matmul, PassKind pass, const BlockShape& shape);

}  // namespace meshwright::planner

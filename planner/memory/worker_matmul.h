// What a matrix product of Meshwright's own worker holds while it is computed. Nothing but in bf16
// on a CPU: there ATen holds a product in fp32 as well, so that the worker computes it in pieces.
// (oneDNN does, with its kernels for AVX-512; on older CPUs a run takes up to a tenth less.)
// On CUDA cuBLAS' workspace is held throughout, and counted with the layout
// (planner/memory/exact_memory.h).
#pragma once

#include <cstdint>

#include "planner/block/block_shape.h"
#include "planner/block/operator.h"

namespace meshwright::planner {

// Elements of a bf16 matrix product that are computed at once on a CPU, at least one row.
inline constexpr int64_t kMatmulPieceElements = int64_t{1} << 20;

// Rows of a product of `rows` x `columns` that are computed at once.
int64_t MatmulPieceRows(int64_t rows, int64_t columns);

// Bytes beside a product of `rows` x `columns`: a piece of it in fp32.
int64_t MatmulBytes(int64_t rows, int64_t columns, const BlockShape& shape);

// Bytes beside the result of a pass. A weight gradient adds to one that is there, and takes a piece
// in bf16 beside its fp32 form.
int64_t MatmulPassBytes(const MatmulShape& matmul, PassKind pass, const BlockShape& shape);

}  // namespace meshwright::planner

// Computes the bytes that a matrix product of Meshwright's own worker holds while it is computed,
// in addition to its operands and its result.
//
// Only bf16 products on a CPU hold such bytes. ATen makes an fp32 copy of the product. To keep this
// copy small, the worker computes the product in pieces. The bytes are those of oneDNN's kernels
// for AVX-512; without these kernels a run takes less memory, by up to 15 % in models of a few MB.
// On CUDA, cuBLAS holds its workspace throughout a run, so it is counted once per rank
// (ExactMemory::LibraryBytes(), planner/memory/exact_memory.h) and not here.
#pragma once

#include <cstdint>

#include "planner/block/block_shape.h"
#include "planner/block/operator.h"

namespace meshwright::planner {

// The most elements of one piece of a bf16 matrix product on a CPU, unless a single row has more.
inline constexpr int64_t kMatmulPieceElements = int64_t{1} << 20;

// Returns how many rows of a product of `rows` x `columns` are in one piece.
int64_t MatmulPieceRows(int64_t rows, int64_t columns);

// Returns the bytes held in addition to a product of `rows` x `columns`: one piece of it in fp32.
int64_t MatmulBytes(int64_t rows, int64_t columns, const BlockShape& shape);

// Returns the bytes held in addition to the result of a pass. A weight gradient takes a piece in
// bf16 as well as in fp32, because it is added to the accumulated gradient.
int64_t MatmulPassBytes(const MatmulShape& matmul, PassKind pass, const BlockShape& shape);

}  // namespace meshwright::planner

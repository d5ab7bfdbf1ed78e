// Computes the bytes that Meshwright's own worker holds while it computes a product with factors in
// E4M3, in addition to the product's inputs and result. These bytes are the factors that are
// quantised only for this product, and the product's scratch memory.
//
// A CPU has no such products. The worker widens a piece of each factor to fp32, or to fp64 if sums
// are in fp64. It multiplies the two pieces into a piece of the result, which it then rounds or
// adds up. A piece of a factor has at most kMatmulPieceElements, unless one row has more.
//
// A GPU reads both factors along the contracted dimension, so some factors are transposed. The GPU
// computes a weight gradient as a separate product before adding it to the accumulated gradient.
#pragma once

#include <cstdint>

#include "planner/block/block_shape.h"
#include "planner/block/operator.h"

namespace meshwright::planner {

// The pieces of a product [rows, columns] that contracts `contracted` elements.
struct NarrowedPieces {
  NarrowedPieces(int64_t rows, int64_t columns, int64_t contracted);

  int64_t elements() const { return (row_count + column_count) * depth + row_count * column_count; }

  int64_t row_count;     // rows of the result at a time
  int64_t column_count;  // columns of the result at a time
  // The number of contracted elements.
  int64_t depth;
};

// Returns the bytes of one pass.
int64_t NarrowedPassBytes(const MatmulShape& matmul, PassKind pass, const BlockShape& shape);

}  // namespace meshwright::planner

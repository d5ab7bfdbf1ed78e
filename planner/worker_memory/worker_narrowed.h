// Computes the bytes that a product of Meshwright's own worker with factors in E4M3 holds while it
// is computed, in addition to what it reads and returns: the factors that are narrowed for it
// alone, and the scratch memory of the product.
//
// A CPU has no such products: pieces of both factors are widened to fp32, or fp64 where sums are in
// fp64, and multiplied into a piece of the result, which is then rounded or added up. Each of the
// three has at most kMatmulPieceElements, unless one row has more. A GPU reads both factors along
// the contracted dimension, so some are transposed; a weight gradient is a product of its own
// before it is added.
#pragma once

#include <cstdint>

#include "planner/block/block_shape.h"
#include "planner/block/operator.h"

namespace meshwright::planner {

// The pieces of a product [rows, columns] that contracts `contracted`; sizes in elements.
struct NarrowedPieces {
  NarrowedPieces(int64_t rows, int64_t columns, int64_t contracted);

  int64_t elements() const { return (row_count + column_count) * depth + row_count * column_count; }

  int64_t row_count;     // rows of the result at a time
  int64_t column_count;  // columns of the result at a time
  int64_t depth;
};

int64_t NarrowedPassBytes(const MatmulShape& matmul, PassKind pass, const BlockShape& shape);

}  // namespace meshwright::planner

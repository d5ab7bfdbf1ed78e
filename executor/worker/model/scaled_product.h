// ScaledProduct multiplies two quantised matrices. Sums are in fp32, or in fp64 if statistics are
// fp64.
//
// On a GPU, it uses cuBLASLt, which supports such products on sm_90 only; on other GPUs,
// at::_scaled_mm_v2 fails. On a CPU, it dequantises pieces of both factors, which is exact, and
// multiplies the pieces (planner/worker_memory/worker_narrowed.h has their sizes).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "executor/worker/model/quantised_matrix.h"
#include "executor/worker/state/matrix_gradient.h"
#include "executor/worker/state/rank_context.h"
#include "planner/worker_memory/worker_narrowed.h"

namespace meshwright::worker {

// A factor of a product. The product contracts over the factor's columns or over its rows.
struct Factor {
  const QuantisedMatrix& matrix;
  bool contracts_columns = true;

  int64_t outer() const { return matrix.values.size(contracts_columns ? 0 : 1); }
  int64_t contracted() const { return matrix.values.size(contracts_columns ? 1 : 0); }
};

class ScaledProduct {
 public:
  // Prepares for products of at most [rows, columns] that contract at most `contracted` elements.
  // On a CPU the memory of the pieces is allocated here, once for all products.
  ScaledProduct(const RankContext& context, int64_t rows, int64_t columns, int64_t contracted);

  // Writes the product to `result` [a's outer, b's outer], which may be a view with dense rows.
  void Into(const at::Tensor& result, const Factor& a, const Factor& b) const;
  // Adds the product to a weight's gradient, or overwrites the gradient if it is empty.
  void Into(const MatrixGradient& gradient, const Factor& a, const Factor& b) const;

 private:
  // Calls body(first row, first column, product) for pieces of the result, on a CPU.
  template <typename Body>
  void ForPieces(const Factor& a, const Factor& b, const Body& body) const;
  // Dequantises [first, first + count) of the factor's outer dimension into `place`.
  at::Tensor Widened(const Factor& factor, int64_t first, int64_t count,
                     const at::Tensor& place) const;

  const RankContext& context_;
  const planner::NarrowedPieces pieces_;
  at::Tensor scratch_;  // for both factors' pieces and the product's
};

}  // namespace meshwright::worker

// These functions compute the matrix products of experts: each expert multiplies its own rows of x
// by its own matrix. The rows of x, and the matrices in a weight [experts * outputs, inputs], are
// in the order of the experts. The argument `rows` has each expert's number of rows.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "executor/worker/state/matrix_gradient.h"
#include "executor/worker/state/rank_context.h"

namespace meshwright::worker {

// Calls body(expert, first row, number of rows) for each expert that has rows.
template <typename Body>
void ForExperts(const std::vector<int64_t>& rows, const Body& body) {
  int64_t first = 0;
  for (size_t expert = 0; expert < rows.size(); ++expert) {
    if (rows[expert] > 0) body(static_cast<int64_t>(expert), first, rows[expert]);
    first += rows[expert];
  }
}

// Returns the products of x [rows, inputs], a new tensor [rows, outputs].
at::Tensor GroupedForward(const at::Tensor& x, const at::Tensor& weight,
                          const std::vector<int64_t>& rows);

// Returns dx [rows, inputs], a new tensor, for dy [rows, outputs].
at::Tensor GroupedBackwardInput(const at::Tensor& dy, const at::Tensor& weight,
                                const std::vector<int64_t>& rows);

// Adds dy^T x of each expert to `gradient` [experts * outputs, inputs], or overwrites `gradient` if
// it is empty.
void GroupedBackwardWeight(const RankContext& context, const at::Tensor& dy, const at::Tensor& x,
                           const std::vector<int64_t>& rows, const MatrixGradient& gradient);

}  // namespace meshwright::worker

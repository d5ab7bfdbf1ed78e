// Rows grouped by expert, and matrix products of experts: each multiplies its own rows of x by its
// own matrix. Rows of x, and matrices in a weight [experts * outputs, inputs], are in the order of
// the experts.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "executor/worker/state/matrix_gradient.h"
#include "executor/worker/state/rank_context.h"

namespace meshwright::worker {

// Calls body(expert, first row, rows) for experts that have rows. `rows` has each expert's number.
template <typename Body>
void ForExperts(const std::vector<int64_t>& rows, const Body& body) {
  int64_t first = 0;
  for (size_t expert = 0; expert < rows.size(); ++expert) {
    if (rows[expert] > 0) body(static_cast<int64_t>(expert), first, rows[expert]);
    first += rows[expert];
  }
}

// x [rows, inputs] -> [rows, outputs], a new tensor. `rows` has each expert's number of rows.
at::Tensor GroupedForward(const at::Tensor& x, const at::Tensor& weight,
                          const std::vector<int64_t>& rows);

// dy [rows, outputs] -> dx [rows, inputs], a new tensor.
at::Tensor GroupedBackwardInput(const at::Tensor& dy, const at::Tensor& weight,
                                const std::vector<int64_t>& rows);

// gradient [experts * outputs, inputs] += dy^T x per expert, or = where it is empty.
void GroupedBackwardWeight(const RankContext& context, const at::Tensor& dy, const at::Tensor& x,
                           const std::vector<int64_t>& rows, const MatrixGradient& gradient);

}  // namespace meshwright::worker

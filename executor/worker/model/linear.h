// These functions compute the matrix products of a linear layer y = x W^T and of its backward.
//
// Shapes: x [tokens, inputs], W [outputs, inputs], y [tokens, outputs]; x may be a view with dense
// rows.
#pragma once

#include <ATen/core/Tensor.h>

#include "executor/worker/state/matrix_gradient.h"
#include "executor/worker/state/rank_context.h"

namespace meshwright::worker {

// Returns y, a new tensor. Also allocates the scratch memory of
// planner/worker_memory/worker_matmul.h. `bias` [outputs] may be undefined.
at::Tensor LinearForward(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias);

// Writes y, without bias, to the dense tensor `y`.
void LinearForwardInto(at::Tensor y, const at::Tensor& x, const at::Tensor& weight);

// Returns dx = dy W, a new tensor. Also allocates scratch memory, like LinearForward().
at::Tensor LinearBackwardInput(const at::Tensor& dy, const at::Tensor& weight);

// Writes dx to the dense tensor `dx`.
void LinearBackwardInputInto(at::Tensor dx, const at::Tensor& dy, const at::Tensor& weight);

// Adds dy^T x to `gradient` [outputs, inputs], or overwrites `gradient` if it is empty. Allocates
// nothing, except pieces of the product if dy is bf16 on a CPU
// (planner/worker_memory/worker_matmul.h).
void LinearBackwardWeight(const RankContext& context, const at::Tensor& dy, const at::Tensor& x,
                          const MatrixGradient& gradient);

// Adds `bias` [outputs], which may be undefined, to y in place. A row-parallel layer calls this
// after summing the ranks' partial products.
void AddBias(const at::Tensor& bias, at::Tensor& y);

// Adds the sum of dy's rows to `gradient` [outputs], which has the accumulator dtype. Does nothing
// if `gradient` is undefined, as it is in a layer without bias. Allocates nothing.
void AddBiasGradient(const RankContext& context, const at::Tensor& dy, const at::Tensor& gradient);

}  // namespace meshwright::worker

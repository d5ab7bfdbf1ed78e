// Matrix products of a linear layer y = x W^T, and of its backward.
//
// Shapes: x [tokens, inputs], W [outputs, inputs], y [tokens, outputs]; x may be a view with dense
// rows.
#pragma once

#include <ATen/core/Tensor.h>

#include "executor/worker/state/matrix_gradient.h"
#include "executor/worker/state/rank_context.h"

namespace meshwright::worker {

// Allocates y and the scratch of planner/worker_memory/worker_matmul.h. `bias` [outputs] may be
// undefined.
at::Tensor LinearForward(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias);

// The same into a dense y.
void LinearForwardInto(at::Tensor y, const at::Tensor& x, const at::Tensor& weight);

// dx = dy W. Allocates dx likewise.
at::Tensor LinearBackwardInput(const at::Tensor& dy, const at::Tensor& weight);

// The same into a dense dx.
void LinearBackwardInputInto(at::Tensor dx, const at::Tensor& dy, const at::Tensor& weight);

// gradient [outputs, inputs] += dy^T x, or = where it is empty. Allocates nothing, except pieces of
// the product where dy is bf16 on a CPU (planner/worker_memory/worker_matmul.h).
void LinearBackwardWeight(const RankContext& context, const at::Tensor& dy, const at::Tensor& x,
                          const MatrixGradient& gradient);

// Adds `bias` [outputs], which may be undefined, to y in place: for a row parallel layer, after the
// ranks' parts are summed.
void AddBias(const at::Tensor& bias, at::Tensor& y);

// gradient [outputs], accumulator dtype, += the sum of dy's rows. Does nothing where it is
// undefined (a layer without bias). Allocates nothing.
void AddBiasGradient(const RankContext& context, const at::Tensor& dy, const at::Tensor& gradient);

}  // namespace meshwright::worker

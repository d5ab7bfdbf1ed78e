// An independent, plain implementation of fp8-blockwise products with Torch's autograd and
// elementwise operators, with which kernels/ and executor/worker/model/scaled_product.h must agree.
// Shares no code with them.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace meshwright::worker {

// Rounds x [rows, columns] to E4M3 in tiles of 128 neighbours along `dim`, the last of which may be
// cut off, or, for a weight, in blocks of 128 x 128.
at::Tensor NarrowedAlong(const at::Tensor& x, int64_t dim);
at::Tensor NarrowedBlocks(const at::Tensor& weight);

// x [rows, inputs] times weight [outputs, inputs]^T. The gradients of x and of the weight, which
// contracts rows, are computed from narrowed factors.
at::Tensor NarrowProduct(const at::Tensor& x, const at::Tensor& weight);

}  // namespace meshwright::worker

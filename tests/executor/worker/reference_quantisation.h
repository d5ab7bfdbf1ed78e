// Products of fp8-blockwise written once more, plainly, with Torch's autograd and its own
// elementwise operators: what kernels/ and executor/worker/model/scaled_product.h must agree with.
// Shares nothing with them.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace meshwright::worker {

// x [rows, columns], each number as E4M3 has it in tiles of 128 neighbours along `dim`, the last of
// which may be cut off; or of a weight in blocks of 128 x 128.
at::Tensor NarrowedAlong(const at::Tensor& x, int64_t dim);
at::Tensor NarrowedBlocks(const at::Tensor& weight);

// x [rows, inputs] times weight [outputs, inputs]^T. The gradient of x is that of narrowed factors,
// and so is the weight's, which contracts rows.
at::Tensor NarrowProduct(const at::Tensor& x, const at::Tensor& weight);

}  // namespace meshwright::worker

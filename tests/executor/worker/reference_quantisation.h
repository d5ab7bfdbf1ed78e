// NarrowProduct() is an independent, plain implementation of fp8-blockwise products with Torch's
// autograd and elementwise operators. kernels/ and executor/worker/model/scaled_product.h must
// agree with it, and it shares no code with them.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace meshwright::worker {

// NarrowedAlong() rounds x [rows, columns] to E4M3 in tiles of 128 neighbours along `dim`; the last
// tile may be shorter. NarrowedBlocks() rounds a weight to E4M3 in blocks of 128 x 128.
at::Tensor NarrowedAlong(const at::Tensor& x, int64_t dim);
at::Tensor NarrowedBlocks(const at::Tensor& weight);

// Returns x [rows, inputs] times weight [outputs, inputs]^T. The gradients of x and of the weight
// are also computed from quantised factors; the gradient of the weight contracts rows.
at::Tensor NarrowProduct(const at::Tensor& x, const at::Tensor& weight);

}  // namespace meshwright::worker

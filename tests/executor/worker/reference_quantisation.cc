#include "tests/executor/worker/reference_quantisation.h"

#include <ATen/ops/amax.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/frexp.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/ldexp.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/round.h>
#include <ATen/ops/where.h>

#include <algorithm>

namespace meshwright::worker {
namespace {

constexpr int64_t kTile = 128;
constexpr double kMost = 448.0;

at::Tensor PowerOfTwo(const at::Tensor& like, const at::Tensor& exponent) {
  return at::ldexp(at::ones_like(like), exponent);
}

// The smallest power of two that brings `most` down to 448; 1 for 0.
at::Tensor Scale(const at::Tensor& most) {
  const auto [mantissa, exponent] = at::frexp(most / kMost);
  const at::Tensor needed = at::where(mantissa > 0.5, exponent, exponent - 1);
  return at::where(most == 0.0, at::ones_like(most), PowerOfTwo(most, needed));
}

// Numbers between neighbours that are 2^(exponent - 3) apart, and 2^-9 below 2^-6.
at::Tensor ToE4m3(const at::Tensor& x) {
  const auto [mantissa, exponent] = at::frexp(x);
  const at::Tensor distance = PowerOfTwo(x, at::clamp(exponent - 1, -6) - 3);
  return at::clamp(at::round(x / distance) * distance, -kMost, kMost);
}

at::Tensor Narrowed(const at::Tensor& x, const at::Tensor& most) {
  const at::Tensor scale = Scale(most);
  return ToE4m3(x / scale) * scale;
}

}  // namespace

at::Tensor NarrowedAlong(const at::Tensor& x, int64_t dim) {
  const int64_t size = x.size(dim);
  const int64_t missing = (kTile - size % kTile) % kTile;
  const at::Tensor padded =
      dim == 0 ? at::constant_pad_nd(x, {0, 0, 0, missing}) : at::constant_pad_nd(x, {0, missing});
  const at::Tensor tiles = padded.unflatten(dim, {(size + missing) / kTile, kTile});
  const at::Tensor most = at::amax(tiles.abs(), {dim + 1}, /*keepdim=*/true);
  return Narrowed(tiles, most).flatten(dim, dim + 1).narrow(dim, 0, size);
}

at::Tensor NarrowedBlocks(const at::Tensor& weight) {
  const int64_t rows = weight.size(0) / kTile;
  const int64_t columns = weight.size(1) / kTile;
  const at::Tensor blocks = weight.view({rows, kTile, columns, kTile});
  const at::Tensor most = at::amax(blocks.abs(), {1, 3}, /*keepdim=*/true);
  return Narrowed(blocks, most).view(weight.sizes());
}

// Two products that are 0 in value lead the gradients to x and to the weight.
at::Tensor NarrowProduct(const at::Tensor& x, const at::Tensor& weight) {
  const at::Tensor blocks = NarrowedBlocks(weight.detach());
  const at::Tensor value = at::matmul(NarrowedAlong(x.detach(), 1), blocks.t());
  at::Tensor to_x = at::matmul(x, blocks.t());
  to_x.register_hook([](const at::Tensor& gradient) { return NarrowedAlong(gradient, 1); });
  at::Tensor to_weight = at::matmul(NarrowedAlong(x.detach(), 0), weight.t());
  to_weight.register_hook([](const at::Tensor& gradient) { return NarrowedAlong(gradient, 0); });
  return value + (to_x - to_x.detach()) + (to_weight - to_weight.detach());
}

}  // namespace meshwright::worker

// How a precision narrows the products of a model's blocks: which format their factors take, and
// what is stored of them beside the 16-bit tensors.
//
// Attention, norms, embedding, head, gradients and optimizer states stay as they are, and so do the
// weights that gradients are applied to. So fp8 may take more memory than bf16: copies of weights
// come on top, and only what is kept of products' inputs gets smaller.
#pragma once

#include "planner/spec/number_formats.h"

namespace meshwright::planner {

struct Quantisation {
  // Of both factors of every pass; bf16 where products are as wide as activations.
  NumberFormat products = NumberFormat::kBf16;
  // Bytes that an element of a product's input takes where it is kept for backward, its part of a
  // scale included.
  double kept_bytes = 2.0;
  // Bytes beside the 16-bit weight, per element of a block's matrices: a copy for the forward
  // product and one for the input gradient, which reads it the other way.
  double weight_copy_bytes = 0.0;
  // Whether each block of a tensor has a scale, which stands in a tensor of its own.
  bool scales_blocks = false;

  constexpr bool narrows() const { return products != NumberFormat::kBf16; }

  friend bool operator==(const Quantisation&, const Quantisation&) = default;
};

// As Transformer Engine's recipes are: delayed and current scaling have one scale a tensor;
// blockwise fp32 scales for 1 x 128 of an activation and 128 x 128 of a weight; mxfp8 a byte for
// 1 x 32 (OCP Microscaling Formats 1.0); nvfp4 a byte for 1 x 16 of two elements a byte.
constexpr Quantisation QuantisationOf(Precision precision) {
  const auto in = [](NumberFormat products, double kept_bytes, double copy_bytes) {
    return Quantisation{
        .products = products, .kept_bytes = kept_bytes, .weight_copy_bytes = 2.0 * copy_bytes};
  };
  const auto by_block = [&in](NumberFormat products, double kept_bytes, double copy_bytes) {
    Quantisation quantisation = in(products, kept_bytes, copy_bytes);
    quantisation.scales_blocks = true;
    return quantisation;
  };
  switch (precision) {
    case Precision::kFp8Delayed:
    case Precision::kFp8Current:
      return in(NumberFormat::kFp8, 1.0, 1.0);
    case Precision::kFp8Blockwise:
      return by_block(NumberFormat::kFp8, 1.0 + 4.0 / 128.0, 1.0 + 4.0 / (128.0 * 128.0));
    case Precision::kMxfp8:
      return by_block(NumberFormat::kFp8, 1.0 + 1.0 / 32.0, 1.0 + 1.0 / 32.0);
    case Precision::kNvfp4:
      return by_block(NumberFormat::kFp4, 0.5 + 1.0 / 16.0, 0.5 + 1.0 / 16.0);
    case Precision::kBf16:
    case Precision::kFp32:
    case Precision::kFp64:
      break;
  }
  return {};
}

}  // namespace meshwright::planner

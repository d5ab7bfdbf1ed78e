// Quantisation says how a precision narrows the products of a model's blocks: the format of their
// factors, and what is stored of them in addition to the 16-bit tensors.
//
// Attention, norms, embedding, head, gradients and optimizer states are unchanged, and so are the
// weights that gradients are applied to. fp8 may therefore take more memory than bf16: it adds
// copies of weights, and shrinks only what is kept of products' inputs.
#pragma once

#include "planner/spec/number_formats.h"

namespace meshwright::planner {

struct Quantisation {
  // The format of both factors in every pass; bf16 where products are as wide as activations.
  NumberFormat products = NumberFormat::kBf16;
  // Bytes per element of a product's input that is kept for backward, including its part of a
  // scale.
  double kept_bytes = 2.0;
  // Bytes in addition to the 16-bit weight, per element of a block's matrices: a copy for the
  // forward product and one for the input gradient, which reads it transposed.
  double weight_copy_bytes = 0.0;
  // Whether each block of a tensor has a scale, stored in a separate tensor.
  bool scales_blocks = false;

  constexpr bool narrows() const { return products != NumberFormat::kBf16; }

  friend bool operator==(const Quantisation&, const Quantisation&) = default;
};

// As in Transformer Engine's recipes: delayed and current scaling have one scale per tensor;
// blockwise has fp32 scales for 1 x 128 of an activation and 128 x 128 of a weight; mxfp8 a byte
// for 1 x 32 (OCP Microscaling Formats 1.0); nvfp4 a byte for 1 x 16, with two elements per byte.
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

// Quantisation says how a precision quantises the products of a model's blocks: the format of their
// factors, and what is stored in addition to the 16-bit tensors.
//
// Attention, norms, embedding, head, gradients and optimizer states are unchanged, and so are the
// weights to which gradients are applied. fp8 may therefore take more memory than bf16: it adds
// copies of weights, and only the kept inputs of products get smaller.
#pragma once

#include "planner/spec/number_formats.h"

namespace meshwright::planner {

struct Quantisation {
  // The format of both factors in every pass; kBf16 if the precision quantises nothing.
  NumberFormat products = NumberFormat::kBf16;
  // Bytes per element of a product's input that is kept for backward, including the element's share
  // of its scale.
  double kept_bytes = 2.0;
  // Bytes per element of a block's matrices, in addition to the 16-bit weight. There are two
  // copies: one for the forward product, and a transposed one for the input gradient.
  double weight_copy_bytes = 0.0;
  // If true, each block of a tensor has a scale, stored in a separate tensor.
  bool scales_blocks = false;
  // If true, the device applies the scales of the blocks inside the product. Devices with fp4
  // products apply scales in this way; older devices have no such products.
  bool scales_in_product = false;
  // Whether the inputs of experts are cast expert by expert. They are if each block has a scale, or
  // if a scale follows from the tensor's own largest element. A scale that is known in advance
  // serves all experts in one cast.
  bool casts_by_expert = false;

  constexpr bool narrows() const { return products != NumberFormat::kBf16; }

  friend bool operator==(const Quantisation&, const Quantisation&) = default;
};

// Returns the quantisation of a precision, after Transformer Engine's recipes. Delayed and current
// scaling have one scale per tensor. Blockwise has an fp32 scale for each 1 x 128 block of an
// activation and each 128 x 128 block of a weight. mxfp8 has a scale of one byte for each 1 x 32
// block (OCP Microscaling Formats 1.0). nvfp4 has a scale of one byte for each 1 x 16 block, and
// two elements per byte.
constexpr Quantisation QuantisationOf(Precision precision) {
  const auto in = [](NumberFormat products, double kept_bytes, double copy_bytes) {
    return Quantisation{
        .products = products, .kept_bytes = kept_bytes, .weight_copy_bytes = 2.0 * copy_bytes};
  };
  const auto by_block = [&in](NumberFormat products, double kept_bytes, double copy_bytes) {
    Quantisation quantisation = in(products, kept_bytes, copy_bytes);
    quantisation.scales_blocks = true;
    quantisation.casts_by_expert = true;
    return quantisation;
  };
  const auto in_microscaling = [&by_block](NumberFormat products, double bytes) {
    Quantisation quantisation = by_block(products, bytes, bytes);
    quantisation.scales_in_product = true;
    return quantisation;
  };
  switch (precision) {
    case Precision::kFp8Delayed:
      return in(NumberFormat::kFp8, 1.0, 1.0);
    case Precision::kFp8Current: {
      Quantisation quantisation = in(NumberFormat::kFp8, 1.0, 1.0);
      quantisation.casts_by_expert = true;
      return quantisation;
    }
    case Precision::kFp8Blockwise:
      return by_block(NumberFormat::kFp8, 1.0 + 4.0 / 128.0, 1.0 + 4.0 / (128.0 * 128.0));
    case Precision::kMxfp8:
      return in_microscaling(NumberFormat::kFp8, 1.0 + 1.0 / 32.0);
    case Precision::kNvfp4:
      return in_microscaling(NumberFormat::kFp4, 0.5 + 1.0 / 16.0);
    case Precision::kBf16:
    case Precision::kFp16:
    case Precision::kFp32:
    case Precision::kFp64:
      break;
  }
  return {};
}

}  // namespace meshwright::planner

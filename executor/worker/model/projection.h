// These functions compute the products of a block: x W^T of a linear layer, and its backward.
// Overloads with `groups` compute the products of a rank's experts: each expert multiplies its own
// rows of x by its own matrix in W [experts * outputs, inputs].
//
// Factors have the activations' format (executor/worker/model/linear.h), or are quantised to E4M3
// by the recipe fp8-blockwise (DeepSeek-V3, arXiv 2412.19437, section 3.3; Transformer Engine's
// Float8BlockScaling). Activations and gradients have one scale per tile of 1 x 128 along the
// contracted dimension, and weights have one scale per block of 128 x 128. The forward and the
// input gradient contract over features. A weight gradient contracts over tokens: both factors are
// quantised again from the originals, in tiles of 128 tokens of a column, and inputs are saved in
// this form. Quantised weights are not kept: each product quantises its weight and frees the result
// afterwards.
//
// As long as no tile is cut, the layout changes results only through the order of sums
// (planner/rules/tile_rules.h refuses layouts that cut tiles). A tile of experts' tokens has rows
// of one expert, from one micro-batch and on one rank. For experts, the layout therefore decides
// which tokens share a tile, unless routing is balanced and rows fill the tiles.
#pragma once

#include <ATen/core/Tensor.h>

#include "executor/worker/comm/communicator.h"
#include "executor/worker/model/quantised_matrix.h"
#include "executor/worker/state/matrix_gradient.h"
#include "executor/worker/state/rank_context.h"

namespace meshwright::worker {

// A product's input as it is saved for the weight gradient. One of the two members is defined.
struct ProductInput {
  at::Tensor wide;         // not quantised
  QuantisedMatrix narrow;  // quantised in tiles of tokens

  bool defined() const { return wide.defined() || narrow.defined(); }
  void reset() { *this = {}; }
};

// Returns the input x [rows, inputs] in its saved form. Allocates nothing unless products are
// quantised.
ProductInput KeepInput(const RankContext& context, const at::Tensor& x);
ProductInput KeepInput(const RankContext& context, const at::Tensor& x, const RowGroups& groups);

// Returns the product of x [tokens, inputs], a new tensor [tokens, outputs]. `bias` [outputs] may
// be undefined.
at::Tensor ProjectionForward(const RankContext& context, const at::Tensor& x,
                             const at::Tensor& weight, const at::Tensor& bias);
at::Tensor ProjectionForward(const RankContext& context, const at::Tensor& x,
                             const at::Tensor& weight, const RowGroups& groups);

// Returns dx [tokens, inputs], a new tensor, for dy [tokens, outputs].
at::Tensor ProjectionBackwardInput(const RankContext& context, const at::Tensor& dy,
                                   const at::Tensor& weight);
at::Tensor ProjectionBackwardInput(const RankContext& context, const at::Tensor& dy,
                                   const at::Tensor& weight, const RowGroups& groups);

// Adds dy^T x to `gradient` [outputs, inputs], or overwrites `gradient` if it is empty.
void ProjectionBackwardWeight(const RankContext& context, const at::Tensor& dy,
                              const ProductInput& x, const MatrixGradient& gradient);
void ProjectionBackwardWeight(const RankContext& context, const at::Tensor& dy,
                              const ProductInput& x, const RowGroups& groups,
                              const MatrixGradient& gradient);

// A gather of the saved inputs of all ranks' shares of the stream
// (executor/worker/model/tensor_parallel.h). Other work can run until Finish().
class EnteringInput {
 public:
  EnteringInput(ProductInput result, Pending values, Pending scales)
      : result_(std::move(result)), values_(std::move(values)), scales_(std::move(scales)) {}

  // Waits for the gather and returns the saved input of all tokens. Must be called only once.
  ProductInput Finish() {
    values_.Wait();
    scales_.Wait();
    return std::move(result_);
  }

 private:
  ProductInput result_;
  Pending values_;
  Pending scales_;
};

// Starts the gather. Without sequence parallelism, `share` is already the input of all tokens.
EnteringInput StartEntering(RankContext& context, const ProductInput& share);

}  // namespace meshwright::worker

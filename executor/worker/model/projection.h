// Products of a block: x W^T of a linear layer and its backward, or of a rank's experts, each with
// its own rows of x and its own matrix in W [experts * outputs, inputs].
//
// Factors have the activations' format (executor/worker/model/linear.h), or are narrowed to E4M3 by
// the recipe fp8-blockwise (DeepSeek-V3, arXiv 2412.19437, section 3.3; Transformer Engine's
// Float8BlockScaling): activations and gradients in tiles of 1 x 128 along the contracted
// dimension, weights in blocks of 128 x 128. Forward and input gradient contract widths. A weight
// gradient contracts tokens: both factors are narrowed again from the originals, in tiles of 128
// tokens of a column, and an input is saved in this form. Narrowed weights are not kept: they are
// recomputed for each product and freed after it.
//
// Where no tile is cut, results depend on the layout only by the order of sums
// (planner/rules/tile_rules.h refuses other layouts). Experts' tiles of tokens consist of one
// expert's rows of one micro-batch on one rank, so which tokens share a tile depends on the layout,
// unless routing is balanced and rows fill the tiles.
#pragma once

#include <ATen/core/Tensor.h>

#include "executor/worker/comm/communicator.h"
#include "executor/worker/model/quantised_matrix.h"
#include "executor/worker/state/matrix_gradient.h"
#include "executor/worker/state/rank_context.h"

namespace meshwright::worker {

// What is saved of a product's input for the weight gradient. One of the two is defined.
struct ProductInput {
  at::Tensor wide;         // unchanged
  QuantisedMatrix narrow;  // in tiles of tokens

  bool defined() const { return wide.defined() || narrow.defined(); }
  void reset() { *this = {}; }
};

// For x [rows, inputs]. Allocates nothing unless products are narrowed.
ProductInput KeepInput(const RankContext& context, const at::Tensor& x);
ProductInput KeepInput(const RankContext& context, const at::Tensor& x, const RowGroups& groups);

// x [tokens, inputs] -> [tokens, outputs], a new tensor. `bias` [outputs] may be undefined.
at::Tensor ProjectionForward(const RankContext& context, const at::Tensor& x,
                             const at::Tensor& weight, const at::Tensor& bias);
at::Tensor ProjectionForward(const RankContext& context, const at::Tensor& x,
                             const at::Tensor& weight, const RowGroups& groups);

// dy [tokens, outputs] -> dx [tokens, inputs], a new tensor.
at::Tensor ProjectionBackwardInput(const RankContext& context, const at::Tensor& dy,
                                   const at::Tensor& weight);
at::Tensor ProjectionBackwardInput(const RankContext& context, const at::Tensor& dy,
                                   const at::Tensor& weight, const RowGroups& groups);

// gradient [outputs, inputs] += dy^T x, or = where it is empty.
void ProjectionBackwardWeight(const RankContext& context, const at::Tensor& dy,
                              const ProductInput& x, const MatrixGradient& gradient);
void ProjectionBackwardWeight(const RankContext& context, const at::Tensor& dy,
                              const ProductInput& x, const RowGroups& groups,
                              const MatrixGradient& gradient);

// A gather of the saved inputs of all ranks' shares of the stream, during which other work can run
// (executor/worker/model/tensor_parallel.h).
class EnteringInput {
 public:
  EnteringInput(ProductInput result, Pending values, Pending scales)
      : result_(std::move(result)), values_(std::move(values)), scales_(std::move(scales)) {}

  // Waits for the saved input of all tokens. Call once.
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

EnteringInput StartEntering(RankContext& context, const ProductInput& share);

}  // namespace meshwright::worker

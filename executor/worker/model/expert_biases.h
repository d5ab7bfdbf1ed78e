// These functions add biases of experts' projections: each expert adds its own bias to its rows.
// All biases are one tensor [experts * outputs]. Biases and rows are in the order of the experts,
// and the argument `rows` has each expert's number of rows. All functions do nothing if the bias,
// or its gradient, is undefined.
//
// If the rows of a product are weighted, the bias is added with the same weights, so that a row's
// weight applies to product and bias alike.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "executor/worker/state/rank_context.h"

namespace meshwright::worker {

// Adds to each row of y [rows, outputs] the bias of its expert.
void AddExpertBias(const at::Tensor& bias, const std::vector<int64_t>& rows, const at::Tensor& y);

// Adds to each row of y [rows, outputs] its weight times the bias of its expert. `weights` is
// [rows, 1] in the accumulator dtype.
void AddWeighedExpertBias(const RankContext& context, const at::Tensor& weights,
                          const at::Tensor& bias, const std::vector<int64_t>& rows,
                          const at::Tensor& y);

// Adds the sum of each expert's rows of dy [rows, outputs] to `gradient` [experts * outputs], which
// has the accumulator dtype. Each row is multiplied by its weight if `weights` is defined.
void AddExpertBiasGradient(const RankContext& context, const at::Tensor& dy,
                           const std::vector<int64_t>& rows, const at::Tensor& weights,
                           const at::Tensor& gradient);

// Adds the gradient of the rows' weights through a weighted bias to `dweights` [rows, 1], which has
// the accumulator dtype.
void AddBiasToWeightGradient(const RankContext& context, const at::Tensor& dy,
                             const at::Tensor& bias, const std::vector<int64_t>& rows,
                             const at::Tensor& dweights);

}  // namespace meshwright::worker

// Biases of experts' products: each expert adds its own bias to its rows. A bias [experts *
// outputs] is in the order of the experts, like the rows; `rows` has each expert's number of rows.
// All functions do nothing where the bias, or its gradient, is undefined.
//
// After a product of weighted rows the bias is weighted as it is added, so that a row's weight
// applies to product and bias alike.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "executor/worker/state/rank_context.h"

namespace meshwright::worker {

// y [rows, outputs] += the bias of the row's expert.
void AddExpertBias(const at::Tensor& bias, const std::vector<int64_t>& rows, const at::Tensor& y);

// y [rows, outputs] += the row's weight times the bias of its expert; weights [rows, 1],
// accumulator dtype.
void AddWeighedExpertBias(const RankContext& context, const at::Tensor& weights,
                          const at::Tensor& bias, const std::vector<int64_t>& rows,
                          const at::Tensor& y);

// gradient [experts * outputs], accumulator dtype, += the sum of each expert's rows of dy [rows,
// outputs], each times its weight if `weights` is defined.
void AddExpertBiasGradient(const RankContext& context, const at::Tensor& dy,
                           const std::vector<int64_t>& rows, const at::Tensor& weights,
                           const at::Tensor& gradient);

// dweights [rows, 1], accumulator dtype, += the gradient of the weights through a weighted bias.
void AddBiasToWeightGradient(const RankContext& context, const at::Tensor& dy,
                             const at::Tensor& bias, const std::vector<int64_t>& rows,
                             const at::Tensor& dweights);

}  // namespace meshwright::worker

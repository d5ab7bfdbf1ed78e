// Biases of experts' products: each expert adds its own to its rows. A bias [experts * outputs]
// stands in the order of the experts, like the rows; `rows` says how many each expert has. Nothing
// happens where the bias, or its gradient, is undefined.
//
// Behind a product of rows that were weighed before it, a bias is weighed as it is added: the
// weight of a row then counts for the product and the bias alike.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "executor/worker/state/rank_context.h"

namespace meshwright::worker {

// y [rows, outputs] += the bias of the row's expert.
void AddExpertBias(const at::Tensor& bias, const std::vector<int64_t>& rows, const at::Tensor& y);

// y [rows, outputs] += the row's weight * the bias of its expert; weights [rows, 1], accumulator
// dtype.
void AddWeighedExpertBias(const RankContext& context, const at::Tensor& weights,
                          const at::Tensor& bias, const std::vector<int64_t>& rows,
                          const at::Tensor& y);

// gradient [experts * outputs], accumulator dtype, += the sum of each expert's rows of dy [rows,
// outputs], each times its weight if `weights` is defined.
void AddExpertBiasGradient(const RankContext& context, const at::Tensor& dy,
                           const std::vector<int64_t>& rows, const at::Tensor& weights,
                           const at::Tensor& gradient);

// dweights [rows, 1], accumulator dtype, += what a weighed bias makes the gradient of its weights.
void AddBiasToWeightGradient(const RankContext& context, const at::Tensor& dy,
                             const at::Tensor& bias, const std::vector<int64_t>& rows,
                             const at::Tensor& dweights);

}  // namespace meshwright::worker

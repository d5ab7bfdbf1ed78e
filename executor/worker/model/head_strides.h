// Strides of heads in attention's tensors, in the form that kernels take.
#pragma once

#include <ATen/core/Tensor.h>

#include "kernels/operators.h"

namespace meshwright::worker {

// For [batch, queries, heads, head_dim].
inline kernels::HeadStrides StridesOfHeads(const at::Tensor& heads) {
  return {.batch = heads.stride(0), .query = heads.stride(1), .head = heads.stride(2)};
}

// For [batch, heads, queries].
inline kernels::HeadStrides StridesOfStatistic(const at::Tensor& statistic) {
  return {.batch = statistic.stride(0), .query = statistic.stride(2), .head = statistic.stride(1)};
}

}  // namespace meshwright::worker

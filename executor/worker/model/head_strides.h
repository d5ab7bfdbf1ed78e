// Where heads lie in tensors of attention, as its kernels want to know it.
#pragma once

#include <ATen/core/Tensor.h>

#include "kernels/operators.h"

namespace meshwright::worker {

// Of [batch, queries, heads, head_dim].
inline kernels::HeadStrides StridesOfHeads(const at::Tensor& heads) {
  return {.batch = heads.stride(0), .query = heads.stride(1), .head = heads.stride(2)};
}

// Of [batch, heads, queries].
inline kernels::HeadStrides StridesOfStatistic(const at::Tensor& statistic) {
  return {.batch = statistic.stride(0), .query = statistic.stride(2), .head = statistic.stride(1)};
}

}  // namespace meshwright::worker

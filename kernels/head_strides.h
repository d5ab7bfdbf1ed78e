// Where a head lies in a tensor over batches, queries and heads.
#pragma once

#include "kernels/operators.h"

namespace meshwright::kernels {

// In elements. Static for the reason that kernels/element.h gives.
[[maybe_unused]] MESHWRIGHT_HOST_DEVICE static inline int64_t OffsetOf(const HeadStrides& strides,
                                                                       int64_t batch, int64_t query,
                                                                       int64_t head) {
  return batch * strides.batch + query * strides.query + head * strides.head;
}

}  // namespace meshwright::kernels

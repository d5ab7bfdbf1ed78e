// Offsets of heads in a tensor over batches, queries and heads.
#pragma once

#include "kernels/operators.h"

namespace meshwright::kernels {

// Returns the offset in elements. Static, as explained in kernels/element.h.
[[maybe_unused]] MESHWRIGHT_HOST_DEVICE static inline int64_t OffsetOf(const HeadStrides& strides,
                                                                       int64_t batch, int64_t query,
                                                                       int64_t head) {
  return batch * strides.batch + query * strides.query + head * strides.head;
}

}  // namespace meshwright::kernels

// Computes the bytes that operators keep from forward to backward, for one micro-batch on one rank.
#pragma once

#include <cstdint>

#include "planner/block/operator.h"

namespace meshwright::planner {

// Returns the bytes of everything that the operators save. For a block in bf16 with sequence
// parallelism, fused norms and a kept silu(gate), this is s b h (12 + 4 k/a + 8 f/h) / (t c) plus
// the statistics (Fujii et al., arXiv 2411.06465). Here b is the micro-batch in sequences, s their
// length, h the hidden size, f the FFN width, a the number of query heads, k the number of key
// heads, t tp, and c cp.
int64_t KeptBytes(const OperatorList& operators);

// Returns the bytes of one saved tensor, or 0 if no operator saves it.
int64_t KeptBytes(const OperatorList& operators, KeptTensor tensor);

// Returns the bytes of the saved tensors from `first` to `last`, in the order of KeptTensor.
int64_t KeptBytes(const OperatorList& operators, KeptTensor first, KeptTensor last);

}  // namespace meshwright::planner

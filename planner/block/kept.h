// What operators keep from forward to backward for one micro-batch, in bytes on one rank.
#pragma once

#include <cstdint>

#include "planner/block/operator_list.h"

namespace meshwright::planner {

// All that the operators save. A block in bf16 with sequence parallel, fused norms and silu(gate)
// kept saves s b h (12 + 4 k/a + 8 f/h) / (t c) plus the statistics (Fujii et al., arXiv
// 2411.06465).
int64_t KeptBytes(const OperatorList& operators);

// Of one tensor; 0 where nothing saves it.
int64_t KeptBytes(const OperatorList& operators, KeptTensor tensor);

// Without the tensors that are gone, or replaced by a gradient that is gone, when every input
// gradient is there: what a backward in two parts keeps between them.
int64_t KeptForWeightGradientBytes(const OperatorList& operators);

}  // namespace meshwright::planner

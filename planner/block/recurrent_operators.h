// Lists the operators of a recurrence: projection, convolution, gates, core, norm, projection.
#pragma once

#include "planner/block/block_shape.h"
#include "planner/block/operator.h"

namespace meshwright::planner {

// Appends the operators from the norm's output to the input of the residual addition, without the
// collectives of tensor parallelism around them. If the layer also has attention, only attention
// keeps the norm's output. REQUIRES: shape.recurrence.exists().
void AddRecurrence(const BlockShape& shape, OperatorList& operators);

}  // namespace meshwright::planner

// Lists the convolutions over tokens between attention's projections and its scores
// (planner/spec/model_spec.h, Attention).
#pragma once

#include "planner/block/block_shape.h"
#include "planner/block/operator.h"

namespace meshwright::planner {

// Appends the convolutions of the shape's attention as one operator: of queries and keys, or of
// keys and values. Appends nothing if there are none.
void AddConvolutions(const BlockShape& shape, OperatorList& operators);

}  // namespace meshwright::planner

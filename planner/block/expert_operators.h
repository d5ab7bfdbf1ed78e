// A mixture of experts in place of a block's FFN, as operators: the router, the dispatch of tokens
// to their experts, the experts' products, and the combination of the results.
//
// A rank's tokens are those of its share of the residual stream. Each goes to top_k experts, so a
// rank sends, and on average receives, top_k times as many rows, whatever ep is: what experts keep
// is not divided by it.
#pragma once

#include "planner/block/block_shape.h"
#include "planner/block/operator.h"

namespace meshwright::planner {

// Appends the operators between the norm before the FFN and the FFN that every token passes.
// Requires `shape.has_experts()`.
void AddExperts(const BlockShape& shape, OperatorList& operators);

}  // namespace meshwright::planner

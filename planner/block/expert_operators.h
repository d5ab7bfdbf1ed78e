// Lists the operators of a mixture of experts, which takes the place of a block's FFN: the router,
// the dispatch of tokens to their experts, the experts' products, and the combination of the
// results.
//
// A rank routes the tokens of its share of the residual stream. Each token goes to top_k experts,
// so a rank sends, and on average receives, top_k rows per token. This number does not depend on
// ep, so a larger ep does not reduce the bytes that experts keep.
#pragma once

#include "planner/block/block_shape.h"
#include "planner/block/operator.h"

namespace meshwright::planner {

// Appends the operators of the experts. These operators follow the norm before the FFN, and precede
// the FFN that every token uses, if there is one. REQUIRES: shape.has_experts().
void AddExperts(const BlockShape& shape, OperatorList& operators);

}  // namespace meshwright::planner

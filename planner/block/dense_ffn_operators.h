// Lists the operators of an FFN that every token uses: an FFN without experts, or a shared expert.
#pragma once

#include "planner/block/block_shape.h"
#include "planner/block/operator.h"

namespace meshwright::planner {

// Appends the FFN: its first product, its activation and its second product. In a shared block, the
// layer's own low-rank matrices (SharedBlock::adapter_rank) are listed after the first product.
// `has_entered` says whether TP ranks already have the whole input. REQUIRES: shape.ffn_hidden > 0.
void AddDenseFfn(const BlockShape& shape, bool has_entered, OperatorList& operators);

}  // namespace meshwright::planner

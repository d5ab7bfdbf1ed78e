// Lists the operators of the FFN that every token passes, of an FFN without experts or of a shared
// expert.
#pragma once

#include "planner/block/block_shape.h"
#include "planner/block/operator.h"

namespace meshwright::planner {

// Appends the FFN: its first product, beside which a shared block may have low-rank matrices of the
// layer's own, its activation and its second product. `has_entered` says whether TP ranks already
// have the whole input. REQUIRES: shape.ffn_hidden > 0.
void AddDenseFfn(const BlockShape& shape, bool has_entered, OperatorList& operators);

}  // namespace meshwright::planner

// Operators in the order of a forward pass. Backward goes the other way round.
#pragma once

#include "planner/base/short_list.h"
#include "planner/block/operator.h"

namespace meshwright::planner {

// Holds a whole block without an allocation.
using OperatorList = ShortList<Operator, 16>;

// The operator of that name, or null.
inline const Operator* Find(const OperatorList& operators, OperatorName name) {
  for (const Operator& op : operators) {
    if (op.name == name) return &op;
  }
  return nullptr;
}

}  // namespace meshwright::planner

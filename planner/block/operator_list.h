// A list of operators in the order of the forward pass. Backward runs them in reverse.
#pragma once

#include "planner/block/operator.h"
#include "planner/containers/short_list.h"

namespace meshwright::planner {

// Holds a whole block without a heap allocation.
using OperatorList = ShortList<Operator, 24>;

// Returns the operator of this name, or null.
inline const Operator* Find(const OperatorList& operators, OperatorName name) {
  for (const Operator& op : operators) {
    if (op.name == name) return &op;
  }
  return nullptr;
}

}  // namespace meshwright::planner

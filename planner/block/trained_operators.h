// Edits operators to what a run trains (planner/spec/trained_parts.h). It is the only place that
// knows what frozen weights and adapters change: parameters, FLOPs, time, kept tensors and traffic
// are sums over the edited lists.
//
// A frozen product has no gradient of its weights and keeps no input for it, unless an adapter
// reads that input too. An adapter is two products behind the one that it is put on; tensor
// parallelism divides the side that it divides of that product. Of the sides that it does not
// divide, the ranks' gradients are parts of a sum; adding them up is not counted. Dropout of the
// adapter's input, which would keep it once more, is 0, as it is by default in PEFT, torchtune and
// Megatron-Bridge.
#pragma once

#include "planner/block/block_shape.h"
#include "planner/block/operator.h"

namespace meshwright::planner {

// Edits an operator of a unit that has no adapters.
void ApplyTraining(const BlockShape& shape, UnitTraining training, Operator& op);

// Edits the operators of a block to shape.training, and adds the adapters' own.
void ApplyTraining(const BlockShape& shape, OperatorList& block);

}  // namespace meshwright::planner

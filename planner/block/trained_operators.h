// Edits operators according to what a run trains (planner/spec/trained_parts.h). Only this file
// knows what frozen weights and adapters change: parameters, FLOPs, time, kept tensors and traffic
// are sums over the edited lists.
//
// A frozen product has no gradient of its weights and keeps no input for it, unless an adapter
// reads that input too. An adapter is two products after the product that it adapts. Tensor
// parallelism divides the adapter on the side on which it divides the adapted product. On the other
// side, the ranks' gradients are partial sums; the collective that adds them up is not counted.
// Dropout of the adapter's input, which would keep this input once more, is 0, the default of PEFT,
// torchtune and Megatron-Bridge.
#pragma once

#include "planner/block/block_shape.h"
#include "planner/block/operator.h"

namespace meshwright::planner {

// Edits an operator of a unit that has no adapters.
void ApplyTraining(const BlockShape& shape, UnitTraining training, Operator& op);

// Edits the operators of a block according to shape.training, and adds the operators of adapters.
void ApplyTraining(const BlockShape& shape, OperatorList& block);

}  // namespace meshwright::planner

// Where the tensors that operators save come from, and what becomes of them.
#pragma once

#include <cstdint>

#include "planner/block/operator.h"

namespace meshwright::planner {

enum class Origin : uint8_t {
  kGiven,   // it comes into the list: the operators before it, or the data
  kResult,  // it is the result of an operator of the list
  kBeside,  // the operator that saves it makes it beside its result
};

struct TensorOrigin {
  Origin origin = Origin::kBeside;
  OperatorName result_of = OperatorName::kEmbedding;  // for kResult
};

TensorOrigin OriginOf(KeptTensor tensor);

// Whether the gradient of an operator's input takes the place of what the operator saved, so that
// the weight gradient of the projection before it reads it from there.
bool GradientTakesPlace(const Operator& op);

}  // namespace meshwright::planner

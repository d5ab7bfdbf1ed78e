// Says which operator makes a saved tensor, and whether a gradient overwrites it in backward.
#pragma once

#include <cstdint>

#include "planner/block/operator.h"

namespace meshwright::planner {

enum class Origin : uint8_t {
  kGiven,   // made before the list begins: a result of earlier operators, or data
  kResult,  // the result of an operator of the list
  kBeside,  // made by the operator that saves it, in addition to its result
};

struct TensorOrigin {
  Origin origin = Origin::kBeside;
  OperatorName result_of = OperatorName::kEmbedding;  // for kResult
};

TensorOrigin OriginOf(KeptTensor tensor);
TensorOrigin OriginOf(const SavedTensor& saved);

// Returns whether the operator writes its input gradient over a tensor that it saved. The
// projection before the operator then reads the gradient at that place, for its own weight
// gradient.
bool GradientTakesPlace(const Operator& op);

}  // namespace meshwright::planner

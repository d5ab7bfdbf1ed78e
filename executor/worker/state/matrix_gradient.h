// The gradient of a weight matrix, for whoever computes a micro-batch's part of it.
#pragma once

#include <ATen/core/Tensor.h>

namespace meshwright::worker {

struct MatrixGradient {
  at::Tensor values;  // [rows, columns], accumulator dtype
  // Nothing was added yet and the values are undefined: the part is written over them. Else it is
  // added to them.
  bool empty = false;
};

}  // namespace meshwright::worker

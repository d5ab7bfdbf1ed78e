// MatrixGradient is a weight matrix's gradient, to which a micro-batch's gradient is added.
#pragma once

#include <ATen/core/Tensor.h>

namespace meshwright::worker {

struct MatrixGradient {
  at::Tensor values;  // [rows, columns], accumulator dtype
  // If true, nothing was added yet and the values are undefined: the micro-batch's gradient
  // overwrites them.
  bool empty = false;
};

}  // namespace meshwright::worker

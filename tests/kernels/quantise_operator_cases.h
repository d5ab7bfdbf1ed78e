// Cases of the operators that quantise and dequantise.
#pragma once

#include <vector>

#include "tests/kernels/operator_cases.h"

namespace meshwright::kernels {

std::vector<OperatorCase> QuantiseOperatorCases();

}  // namespace meshwright::kernels

// Cases of the operators of a mixture of experts.
#pragma once

#include <vector>

#include "tests/kernels/operator_cases.h"

namespace meshwright::kernels {

std::vector<OperatorCase> ExpertOperatorCases();

}  // namespace meshwright::kernels

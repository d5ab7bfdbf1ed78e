// Cases of the operators that blocks like GPT-2's have and blocks like Llama's lack: LayerNorm,
// FFNs without a gate, and biases.
#pragma once

#include <vector>

#include "tests/kernels/operator_cases.h"

namespace meshwright::kernels {

std::vector<OperatorCase> GptOperatorCases();

}  // namespace meshwright::kernels

// Reference definitions of the operators that quantise and dequantise.
#pragma once

#include "kernels/quantise_operators.h"

namespace meshwright::kernels {

void RunReference(const Quantise& args);
void RunReference(const Dequantise& args);

}  // namespace meshwright::kernels

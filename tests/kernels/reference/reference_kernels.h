// MakeReferenceKernels() makes the operators' reference: scalar loops in double precision, without
// regard to speed.
#pragma once

#include <memory>

#include "kernels/kernels.h"

namespace meshwright::kernels {

// Returns the reference with which implementations are compared. It uses one thread.
std::unique_ptr<Kernels> MakeReferenceKernels();

// These functions are the operators of a mixture of experts.
void RunReference(const RouterForward& args);
void RunReference(const RouterBackward& args);
void RunReference(const GatherRows& args);
void RunReference(const ScatterRows& args);
void RunReference(const SumRows& args);
void RunReference(const ExpertSwigluForward& args);
void RunReference(const ExpertSwigluBackward& args);
void RunReference(const WeighedBias& args);
void RunReference(const WeighedBiasBackward& args);
// These functions are the operators that quantise and dequantise.
void RunReference(const Quantise& args);
void RunReference(const Dequantise& args);

}  // namespace meshwright::kernels

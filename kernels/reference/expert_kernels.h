// Reference definitions of the operators of a mixture of experts.
#pragma once

#include "kernels/expert_operators.h"

namespace meshwright::kernels {

void RunReference(const RouterForward& args);
void RunReference(const RouterBackward& args);
void RunReference(const GatherRows& args);
void RunReference(const ScatterRows& args);
void RunReference(const SumRows& args);
void RunReference(const ExpertSwigluForward& args);
void RunReference(const ExpertSwigluBackward& args);
void RunReference(const WeighedBias& args);
void RunReference(const WeighedBiasBackward& args);

}  // namespace meshwright::kernels

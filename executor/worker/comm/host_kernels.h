// The fused operators of a host's processors.
#pragma once

#include <memory>

#include "kernels/kernels.h"

namespace meshwright::worker {

// They share Torch's threads with its own operators.
std::unique_ptr<kernels::Kernels> MakeHostKernels();

// The same for all ranks of the process, made when it is first asked for.
const kernels::Kernels& HostKernels();

}  // namespace meshwright::worker

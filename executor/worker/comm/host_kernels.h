// The fused operators for CPUs.
#pragma once

#include <memory>

#include "kernels/kernels.h"

namespace meshwright::worker {

// They use the threads of Torch's own operators.
std::unique_ptr<kernels::Kernels> MakeHostKernels();

// Returns one instance for all ranks of the process, created on first use.
const kernels::Kernels& HostKernels();

}  // namespace meshwright::worker

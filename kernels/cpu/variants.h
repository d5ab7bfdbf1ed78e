// Declares the kernels of each instruction set that kernels/cpu is compiled for.
#pragma once

#include "kernels/kernels.h"
#include "kernels/parallel.h"

namespace meshwright::kernels {

// Each NewKernels() returns the kernels of its instruction set, which the caller owns.
namespace base {
Kernels* NewKernels(Parallel parallel);
}
namespace v3 {
Kernels* NewKernels(Parallel parallel);
}
namespace v4 {
Kernels* NewKernels(Parallel parallel);
}

}  // namespace meshwright::kernels

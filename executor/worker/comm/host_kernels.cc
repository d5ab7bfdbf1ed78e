#include "executor/worker/comm/host_kernels.h"

#include "executor/worker/comm/host_parallel.h"

namespace meshwright::worker {

std::unique_ptr<kernels::Kernels> MakeHostKernels() {
  return kernels::MakeCpuKernels({ParallelFor});
}

const kernels::Kernels& HostKernels() {
  static const kernels::Kernels& kernels = *MakeHostKernels().release();
  return kernels;
}

}  // namespace meshwright::worker

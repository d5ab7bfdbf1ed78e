#include "executor/worker/comm/host_kernels.h"

#include <ATen/Parallel.h>

namespace meshwright::worker {

std::unique_ptr<kernels::Kernels> MakeHostKernels() {
  return kernels::MakeCpuKernels({[](int64_t count, int64_t grain, kernels::RangeBody body,
                                     void* state) {
    at::parallel_for(0, count, grain, [&](int64_t begin, int64_t end) { body(state, begin, end); });
  }});
}

const kernels::Kernels& HostKernels() {
  static const kernels::Kernels& kernels = *MakeHostKernels().release();
  return kernels;
}

}  // namespace meshwright::worker

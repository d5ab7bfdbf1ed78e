// MakeHostKernels() makes the fused operators for CPUs, which run on the threads that LibTorch's
// own operators use.
//
// at::parallel_for uses the OpenMP runtime with which the calling file is compiled, and runs
// serially without OpenMP. LibTorch brings its own OpenMP runtime, whose name differs between
// builds (libgomp-HASH, libiomp5); a second runtime would start threads of its own. These functions
// therefore look up the runtime that is already in the process.
#pragma once

#include <cstdint>
#include <memory>

#include "kernels/kernels.h"
#include "kernels/parallel.h"

namespace meshwright::worker {

// Calls `body` with disjoint ranges that cover [0, count), and returns when all calls have
// returned. There are at most at::get_num_threads() ranges, and only the last may be shorter than
// `grain`. For equal count, grain and number of threads, each range runs on the same thread of the
// team. The loop runs on the calling thread alone if it is nested in another such loop, or if
// LibTorch was built without OpenMP. `body` must not throw.
void ParallelFor(int64_t count, int64_t grain, kernels::RangeBody body, void* state);

// Returns kernels whose loops are run by ParallelFor().
std::unique_ptr<kernels::Kernels> MakeHostKernels();

// Returns the kernels that all ranks of the process share; the first call creates them.
const kernels::Kernels& HostKernels();

}  // namespace meshwright::worker

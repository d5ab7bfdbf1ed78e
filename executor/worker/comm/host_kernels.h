// The fused operators for CPUs, on the threads of LibTorch's own operators.
//
// at::parallel_for uses whichever OpenMP a file is compiled with, and runs serially without one.
// LibTorch's builds bring runtimes of different names (libgomp-HASH, libiomp5), and a second
// runtime would have its own threads; so the runtime already in the process is looked up.
#pragma once

#include <cstdint>
#include <memory>

#include "kernels/kernels.h"
#include "kernels/parallel.h"

namespace meshwright::worker {

// Calls `body` with disjoint ranges that cover [0, count): as many as at::get_num_threads(), each
// of at least `grain` but for the last. For equal count, grain and thread count, each range runs on
// the same thread of the team. Returns when all calls have. `body` must not throw. Runs on the
// calling thread alone inside another such loop, or where LibTorch was built without OpenMP.
void ParallelFor(int64_t count, int64_t grain, kernels::RangeBody body, void* state);

// The operators' loops run by ParallelFor().
std::unique_ptr<kernels::Kernels> MakeHostKernels();

// Returns one instance for all ranks of the process, created on first use.
const kernels::Kernels& HostKernels();

}  // namespace meshwright::worker

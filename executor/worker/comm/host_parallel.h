// Loops of a host's processors on the threads of LibTorch's own operators.
//
// at::parallel_for is a loop of whichever OpenMP a file is compiled with, and a serial one where
// that is none. The runtime that LibTorch brings has another name in every build of it
// (libgomp-HASH, libiomp5), and a second one beside it would have threads of its own; so the one
// that is in the process is looked up.
#pragma once

#include <cstdint>

#include "kernels/parallel.h"

namespace meshwright::worker {

// Calls `body` with disjoint ranges that cover [0, count), as many as at::get_num_threads() and of
// at least `grain` but for the last; each on the same thread of the team for the same count, grain
// and threads. Returns when all calls did. They must not throw. All on the calling thread inside
// another such loop, or where LibTorch was built without OpenMP.
void ParallelFor(int64_t count, int64_t grain, kernels::RangeBody body, void* state);

}  // namespace meshwright::worker

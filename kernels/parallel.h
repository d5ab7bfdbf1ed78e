// Parallel runs a CPU kernel's loop on several threads. The caller provides it, so that kernels
// share the thread pool of the library that runs the matrix products.
#pragma once

#include <cstdint>

namespace meshwright::kernels {

using RangeBody = void (*)(void* state, int64_t begin, int64_t end);

struct Parallel {
  // Calls `body` with disjoint ranges that cover [0, count). No range except the last is smaller
  // than `grain`. Returns once all calls of `body` have returned.
  void (*run)(int64_t count, int64_t grain, RangeBody body, void* state);
};

}  // namespace meshwright::kernels

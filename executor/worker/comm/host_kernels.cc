#include "executor/worker/comm/host_kernels.h"

#include <ATen/Parallel.h>
#include <c10/util/ParallelGuard.h>
#include <dlfcn.h>

#include <algorithm>
#include <atomic>

namespace meshwright::worker {
namespace {

// Entry points defined by GCC's OpenMP, and by LLVM's and Intel's for code compiled by GCC.
struct OpenMp {
  void (*parallel)(void (*body)(void*), void* state, unsigned threads, unsigned flags);
  int (*thread)();
  int (*team_size)();

  bool found() const { return parallel != nullptr && thread != nullptr && team_size != nullptr; }
};

template <typename Function>
void LookUp(const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

OpenMp FindOpenMp() {
  OpenMp found = {};
  LookUp("GOMP_parallel", found.parallel);
  LookUp("omp_get_thread_num", found.thread);
  LookUp("omp_get_num_threads", found.team_size);
  return found;
}

const OpenMp& Runtime() {
  static const OpenMp runtime = FindOpenMp();
  return runtime;
}

struct Loop {
  int64_t count;
  int64_t grain;
  kernels::RangeBody body;
  void* state;
};

// Synchronizes with the team for thread sanitizers, which don't see the runtime's own barriers.
std::atomic<uint64_t> handovers = 0;

// Runs the calling thread's part of the loop.
void RunPart(void* state) {
  handovers.load(std::memory_order_acquire);
  const Loop& loop = *static_cast<const Loop*>(state);
  const int64_t parts = std::min<int64_t>(Runtime().team_size(), loop.count / loop.grain);
  const int64_t size = (loop.count + parts - 1) / parts;
  const int64_t begin = Runtime().thread() * size;
  if (begin < loop.count) {
    const c10::ParallelGuard inside(true);
    loop.body(loop.state, begin, std::min(begin + size, loop.count));
  }
  handovers.fetch_add(1, std::memory_order_release);
}

}  // namespace

void ParallelFor(int64_t count, int64_t grain, kernels::RangeBody body, void* state) {
  if (count <= 0) return;
  Loop loop = {.count = count, .grain = std::max<int64_t>(grain, 1), .body = body, .state = state};
  if (count < 2 * loop.grain || at::in_parallel_region() || at::get_num_threads() == 1 ||
      !Runtime().found()) {
    body(state, 0, count);
    return;
  }
  handovers.fetch_add(1, std::memory_order_release);
  // 0 keeps the count of at::set_num_threads(). A different count per loop would make the runtime
  // end and start threads between loops.
  Runtime().parallel(RunPart, &loop, /*threads=*/0, /*flags=*/0);
  handovers.load(std::memory_order_acquire);
}

std::unique_ptr<kernels::Kernels> MakeHostKernels() {
  return kernels::MakeCpuKernels({ParallelFor});
}

const kernels::Kernels& HostKernels() {
  static const kernels::Kernels& kernels = *MakeHostKernels().release();
  return kernels;
}

}  // namespace meshwright::worker

#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "tests/kernels/cuda_emulation/cuda_runtime.h"

// What kernels declare as their dynamic shared memory.
namespace meshwright::kernels::cuda {
extern thread_local int4 dynamic_shared[];
thread_local int4 dynamic_shared[cuda_emulation::kSharedBytes / sizeof(int4)];
}  // namespace meshwright::kernels::cuda

namespace cuda_emulation {
namespace {

enum class Stop : uint8_t { kBarrier, kExchange, kEnd };

constexpr size_t kWarp = 32;

// A thread of a block. Its stack is made once; it runs one block's thread after the other.
struct Fiber {
  static constexpr size_t kStackBytes = 64 << 10;

  jmp_buf place;
  bool begun = false;
  std::unique_ptr<std::byte[]> stack = std::make_unique_for_overwrite<std::byte[]>(kStackBytes);
  Stop stop = Stop::kBarrier;
  // What this thread last gave away; two, since another may still read the one before.
  std::array<std::array<std::byte, 8>, 2> given;
  size_t exchanges = 0;
};

// All blocks are run by the same fibers, each by as many as it has threads.
struct Block {
  std::vector<std::unique_ptr<Fiber>> fibers;
  size_t threads = 0;
  jmp_buf scheduler;
  const std::function<void()>* thread = nullptr;
};

thread_local Block running;

Fiber& Current() { return *running.fibers[ThreadNumber()]; }

// By jumps: unlike swapcontext, which asks the system for the signal mask, they take no call of it.
void SwitchTo(jmp_buf& here, jmp_buf& there) {
  if (::_setjmp(here) == 0) ::_longjmp(there, 1);
}

void StopFor(Stop stop) {
  Fiber& fiber = Current();
  fiber.stop = stop;
  SwitchTo(fiber.place, running.scheduler);
}

[[noreturn]] void FiberMain() {
  while (true) {
    (*running.thread)();
    StopFor(Stop::kEnd);
  }
}

void Begin(Fiber& fiber) {
  fiber.begun = true;
  ucontext_t context;
  ::getcontext(&context);
  context.uc_stack.ss_sp = fiber.stack.get();
  context.uc_stack.ss_size = Fiber::kStackBytes;
  ::makecontext(&context, FiberMain, 0);
  if (::_setjmp(running.scheduler) == 0) ::setcontext(&context);
}

// Until its next stop.
void Continue(Fiber& fiber) {
  if (fiber.begun) {
    SwitchTo(running.scheduler, fiber.place);
  } else {
    Begin(fiber);
  }
}

void Expect(bool condition, const char* message) {
  if (condition) return;
  std::fprintf(stderr, "%s\n", message);
  std::abort();
}

// What has turn number `turn` of `count`.
size_t AtTurn(size_t turn, size_t count) { return backwards ? count - 1 - turn : turn; }

// Lets the threads of a warp go on to their next barrier or their end. Returns which.
Stop AdvanceWarp(size_t first) {
  Stop stop = Stop::kExchange;
  while (stop == Stop::kExchange) {
    for (size_t turn = 0; turn < kWarp; ++turn) {
      const size_t i = first + AtTurn(turn, kWarp);
      const auto thread = static_cast<unsigned int>(i);
      threadIdx = dim3(thread % blockDim.x, thread / blockDim.x);
      Fiber& fiber = *running.fibers[i];
      Continue(fiber);
      if (turn == 0) stop = fiber.stop;
      Expect(fiber.stop == stop, "threads of a warp stop at different places");
    }
  }
  return stop;
}

// The same of a block.
Stop Advance() {
  const size_t warps = running.threads / kWarp;
  const Stop stop = AdvanceWarp(AtTurn(0, warps) * kWarp);
  for (size_t turn = 1; turn < warps; ++turn) {
    Expect(AdvanceWarp(AtTurn(turn, warps) * kWarp) == stop,
           "warps of a block stop at different places");
  }
  return stop;
}

// Shared memory behind what the blocks asked for, which they must leave alone.
constexpr auto kForeign = std::byte{0xa5};

}  // namespace

void Run(const cudaLaunchConfig_t& config, const std::function<void()>& thread) {
  if (config.dynamicSmemBytes > kSharedBytes) std::abort();
  running.thread = &thread;
  running.threads = size_t{config.blockDim.x} * config.blockDim.y;
  while (running.fibers.size() < running.threads) {
    running.fibers.push_back(std::make_unique<Fiber>());
  }
  auto* shared = reinterpret_cast<std::byte*>(meshwright::kernels::cuda::dynamic_shared);
  std::byte* const behind = shared + config.dynamicSmemBytes;
  std::byte* const end = shared + kSharedBytes;
  std::fill(behind, end, kForeign);
  gridDim = config.gridDim;
  blockDim = config.blockDim;
  const size_t blocks = static_cast<size_t>(gridDim.x) * gridDim.y;
  for (size_t turn = 0; turn < blocks; ++turn) {
    const size_t i = AtTurn(turn, blocks);
    blockIdx =
        dim3(static_cast<unsigned int>(i % gridDim.x), static_cast<unsigned int>(i / gridDim.x));
    // Nothing that a block before left there.
    std::fill(shared, behind, std::byte{0xff});
    while (Advance() != Stop::kEnd) {
    }
  }
  Expect(std::all_of(behind, end, [](std::byte byte) { return byte == kForeign; }),
         "a block wrote behind its shared memory");
}

void Exchange(unsigned int source, const void* value, void* result, size_t bytes) {
  Fiber& fiber = Current();
  const size_t turn = fiber.exchanges++ % 2;
  std::memcpy(fiber.given[turn].data(), value, bytes);
  StopFor(Stop::kExchange);
  std::memcpy(result, running.fibers[source]->given[turn].data(), bytes);
}

}  // namespace cuda_emulation

void __syncthreads() { cuda_emulation::StopFor(cuda_emulation::Stop::kBarrier); }

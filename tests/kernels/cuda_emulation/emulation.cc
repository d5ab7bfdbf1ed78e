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

struct Fiber {
  static constexpr size_t kStackBytes = 64 << 10;

  ucontext_t context;
  std::unique_ptr<std::byte[]> stack = std::make_unique_for_overwrite<std::byte[]>(kStackBytes);
  Stop stop = Stop::kBarrier;
  // What this thread last gave away; two, since another may still read the one before.
  std::array<std::array<std::byte, 8>, 2> given;
  size_t exchanges = 0;
};

struct Block {
  std::vector<Fiber> fibers;
  ucontext_t scheduler;
  const std::function<void()>* thread = nullptr;
};

thread_local Block* running = nullptr;

Fiber& Current() { return running->fibers[ThreadNumber()]; }

void StopFor(Stop stop) {
  Fiber& fiber = Current();
  fiber.stop = stop;
  ::swapcontext(&fiber.context, &running->scheduler);
}

void FiberMain() {
  (*running->thread)();
  StopFor(Stop::kEnd);
}

void Expect(bool condition, const char* message) {
  if (condition) return;
  std::fprintf(stderr, "%s\n", message);
  std::abort();
}

// What has turn number `turn` of `count`.
size_t AtTurn(size_t turn, size_t count) { return backwards ? count - 1 - turn : turn; }

// Lets the threads of a warp go on to their next barrier or their end. Returns which.
Stop AdvanceWarp(Block& block, size_t first) {
  Stop stop = block.fibers[first].stop;
  if (stop == Stop::kEnd) return stop;
  do {
    for (size_t turn = 0; turn < kWarp; ++turn) {
      const size_t i = first + AtTurn(turn, kWarp);
      const auto thread = static_cast<unsigned int>(i);
      threadIdx = dim3(thread % blockDim.x, thread / blockDim.x);
      ::swapcontext(&block.scheduler, &block.fibers[i].context);
      if (turn == 0) stop = block.fibers[i].stop;
      Expect(block.fibers[i].stop == stop, "threads of a warp stop at different places");
    }
  } while (stop == Stop::kExchange);
  return stop;
}

// The same of a block. Returns whether there was a barrier.
bool Advance(Block& block) {
  const size_t warps = block.fibers.size() / kWarp;
  const Stop stop = AdvanceWarp(block, AtTurn(0, warps) * kWarp);
  for (size_t turn = 1; turn < warps; ++turn) {
    Expect(AdvanceWarp(block, AtTurn(turn, warps) * kWarp) == stop,
           "warps of a block stop at different places");
  }
  return stop == Stop::kBarrier;
}

// Shared memory behind what the block asked for, which it must leave alone.
constexpr auto kForeign = std::byte{0xa5};

void RunBlock(Block& block, size_t shared_bytes) {
  auto* shared = reinterpret_cast<std::byte*>(meshwright::kernels::cuda::dynamic_shared);
  // Nothing that a block before left there.
  std::fill_n(shared, shared_bytes, std::byte{0xff});
  std::fill(shared + shared_bytes, shared + kSharedBytes, kForeign);
  for (Fiber& fiber : block.fibers) {
    ::getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
    fiber.context.uc_stack.ss_size = Fiber::kStackBytes;
    ::makecontext(&fiber.context, FiberMain, 0);
    fiber.stop = Stop::kBarrier;
  }
  while (Advance(block)) {
  }
  Expect(std::all_of(shared + shared_bytes, shared + kSharedBytes,
                     [](std::byte byte) { return byte == kForeign; }),
         "a block wrote behind its shared memory");
}

}  // namespace

void Run(const cudaLaunchConfig_t& config, const std::function<void()>& thread) {
  if (config.dynamicSmemBytes > kSharedBytes) std::abort();
  Block block;
  block.fibers.resize(size_t{config.blockDim.x} * config.blockDim.y);
  block.thread = &thread;
  running = &block;
  gridDim = config.gridDim;
  blockDim = config.blockDim;
  const size_t blocks = static_cast<size_t>(gridDim.x) * gridDim.y;
  for (size_t turn = 0; turn < blocks; ++turn) {
    const size_t i = AtTurn(turn, blocks);
    blockIdx =
        dim3(static_cast<unsigned int>(i % gridDim.x), static_cast<unsigned int>(i / gridDim.x));
    RunBlock(block, config.dynamicSmemBytes);
  }
  running = nullptr;
}

void Exchange(unsigned int source, const void* value, void* result, size_t bytes) {
  Fiber& fiber = Current();
  const size_t turn = fiber.exchanges++ % 2;
  std::memcpy(fiber.given[turn].data(), value, bytes);
  StopFor(Stop::kExchange);
  std::memcpy(result, running->fibers[source].given[turn].data(), bytes);
}

}  // namespace cuda_emulation

void __syncthreads() { cuda_emulation::StopFor(cuda_emulation::Stop::kBarrier); }

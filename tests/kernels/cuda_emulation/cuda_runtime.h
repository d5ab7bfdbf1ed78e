// This file replaces CUDA's header of the same name. Code that is compiled with it runs on the CPU,
// so that kernels can be tested without a GPU.
//
// Blocks run one after the other, and the threads of a block take turns. Each thread runs until a
// barrier, which all threads of the block must reach, or a shuffle, which all threads of the warp
// must reach. The file has only the parts of CUDA that kernels/cuda uses.
#pragma once

#include <math.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <utility>

// CUDA has these names.
#define __global__
#define __device__
#define __host__
#define __launch_bounds__(...)
// Threads of a block are fibers of one thread.
#define __shared__ thread_local

struct alignas(16) int4 {
  int x, y, z, w;
};

struct dim3 {
  // Convertible from one number, as in CUDA.
  constexpr dim3(unsigned int columns = 1, unsigned int rows = 1) : x(columns), y(rows) {}

  unsigned int x;
  unsigned int y;
};

enum cudaError_t { cudaSuccess };
using cudaStream_t = void*;
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };
enum cudaDeviceAttr {
  cudaDevAttrMaxSharedMemoryPerBlockOptin,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor,
  cudaDevAttrMultiProcessorCount
};
struct cudaLaunchConfig_t {
  dim3 gridDim;
  dim3 blockDim;
  size_t dynamicSmemBytes = 0;
  cudaStream_t stream = nullptr;
};

inline thread_local dim3 gridDim;
inline thread_local dim3 blockDim;
inline thread_local dim3 blockIdx;
inline thread_local dim3 threadIdx;

namespace cuda_emulation {

// Most shared memory of a block on an H100, in bytes.
inline constexpr size_t kSharedBytes = 227 << 10;
// Number of multiprocessors. It is small, so that in a grid sized to the device each block handles
// several rows of a test.
inline constexpr int kMultiprocessors = 2;

// Whether blocks and threads run in reverse order.
inline thread_local bool backwards = false;

// Runs `thread` for every thread of every block.
void Run(const cudaLaunchConfig_t& config, const std::function<void()>& thread);

// Returns the calling thread's index in its block.
inline unsigned int ThreadNumber() { return threadIdx.y * blockDim.x + threadIdx.x; }

// Publishes the calling thread's `bytes` bytes at `value`, and copies the bytes that the block's
// thread `source` published to `result`.
void Exchange(unsigned int source, const void* value, void* result, size_t bytes);

}  // namespace cuda_emulation

inline const char* cudaGetErrorString(cudaError_t) { return "emulated"; }

inline cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}

inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  *value = attribute == cudaDevAttrMultiProcessorCount
               ? cuda_emulation::kMultiprocessors
               : static_cast<int>(cuda_emulation::kSharedBytes);
  return cudaSuccess;
}

template <typename Kernel>
cudaError_t cudaFuncSetAttribute(Kernel, cudaFuncAttribute, int) {
  return cudaSuccess;
}

template <typename... Expected, typename... Actual>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Expected...),
                               Actual&&... args) {
  cuda_emulation::Run(*config, [&] { kernel(args...); });
  return cudaSuccess;
}

// Waits for all threads of the block.
void __syncthreads();

template <typename T>
T __shfl_xor_sync(unsigned int, T value, int lane_mask) {
  T result;
  cuda_emulation::Exchange(cuda_emulation::ThreadNumber() ^ static_cast<unsigned int>(lane_mask),
                           &value, &result, sizeof(T));
  return result;
}

// Waits for all threads of the warp.
inline void __syncwarp() { __shfl_xor_sync(0xffffffffu, 0, 1); }

template <typename T>
T atomicAdd(T* target, T value) {
  return std::exchange(*target, *target + value);
}

inline float __expf(float x) { return std::exp(x); }

// Returns x / y, or 0 for large y, like the GPU's instruction.
inline float __fdividef(float x, float y) { return std::abs(y) > 0x1p126f ? 0.0f : x / y; }
// NOLINTEND(bugprone-reserved-identifier)

// What the CUDA kernels share: element access, reductions over a block, launch shapes.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <stdexcept>
#include <string>

#include "kernels/element.h"
#include "kernels/operators.h"

namespace meshwright::kernels::cuda {

inline constexpr int kThreads = 256;
inline constexpr int kWarp = 32;
// Blocks that a grid-stride loop is spread over at most; enough to fill the largest device.
inline constexpr int64_t kMaxBlocks = 4096;

inline void Check(cudaError_t error) {
  if (error != cudaSuccess) {
    throw std::runtime_error(std::string("CUDA kernel: ") + cudaGetErrorString(error));
  }
}

// Blocks for `items` that a grid-stride loop takes one per thread.
inline unsigned int BlocksFor(int64_t items) {
  const int64_t blocks = (items + kThreads - 1) / kThreads;
  return static_cast<unsigned int>(blocks < 1 ? 1 : (blocks < kMaxBlocks ? blocks : kMaxBlocks));
}

// Blocks for rows that a block takes one at a time.
inline unsigned int BlocksForRows(int64_t rows) {
  return static_cast<unsigned int>(rows < 1 ? 1 : (rows < kMaxBlocks ? rows : kMaxBlocks));
}

// Calls body with a value of the element type.
template <typename Body>
void WithElement(ElementType type, const Body& body) {
  switch (type) {
    case ElementType::kFp32:
      return body(float{});
    case ElementType::kBf16:
      return body(Bf16{});
    case ElementType::kFp64:
      return body(double{});
  }
}

__device__ inline int64_t GlobalThread() {
  return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline int64_t GridThreads() { return static_cast<int64_t>(gridDim.x) * blockDim.x; }

// The sum over the block, on every thread.
template <typename T>
__device__ T BlockSum(T value) {
  __shared__ T partial[kThreads / kWarp];
  for (int offset = kWarp / 2; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  }
  __syncthreads();  // the array may still be read by a previous call
  if (threadIdx.x % kWarp == 0) partial[threadIdx.x / kWarp] = value;
  __syncthreads();
  T sum = 0;
  for (int i = 0; i < kThreads / kWarp; ++i) sum += partial[i];
  return sum;
}

// exp(x); fp32 to the accuracy of the device's own instruction.
__device__ inline float FastExp(float x) { return __expf(x); }
__device__ inline double FastExp(double x) { return exp(x); }

// The largest over the block, on every thread.
template <typename T>
__device__ T BlockMax(T value) {
  __shared__ T partial[kThreads / kWarp];
  for (int offset = kWarp / 2; offset > 0; offset /= 2) {
    const T other = __shfl_xor_sync(0xffffffffu, value, offset);
    value = other > value ? other : value;
  }
  __syncthreads();
  if (threadIdx.x % kWarp == 0) partial[threadIdx.x / kWarp] = value;
  __syncthreads();
  T max = partial[0];
  for (int i = 1; i < kThreads / kWarp; ++i) max = partial[i] > max ? partial[i] : max;
  return max;
}

// One launch per operator, ordered on `stream`.
void Launch(const RmsNormForward& args, cudaStream_t stream);
void Launch(const RmsNormBackward& args, cudaStream_t stream);
void Launch(const SwigluForward& args, cudaStream_t stream);
void Launch(const SwigluBackward& args, cudaStream_t stream);
void Launch(const Rope& args, cudaStream_t stream);
void Launch(const CrossEntropyStatistics& args, cudaStream_t stream);
void Launch(const CrossEntropyRescale& args, cudaStream_t stream);
void Launch(const CrossEntropyLoss& args, cudaStream_t stream);
void Launch(const CrossEntropyBackward& args, cudaStream_t stream);
void Launch(const EmbeddingForward& args, cudaStream_t stream);
void Launch(const EmbeddingBackward& args, cudaStream_t stream);
void Launch(const Accumulate& args, cudaStream_t stream);
void Launch(const SumOfSquares& args, cudaStream_t stream);
void Launch(const AdamW& args, cudaStream_t stream);

}  // namespace meshwright::kernels::cuda

// Provides helpers of the CUDA kernels: wide accesses, reductions over a block, launches.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "kernels/element.h"
#include "kernels/operators.h"

namespace meshwright::kernels::cuda {

inline constexpr int kThreads = 256;
inline constexpr int kWarp = 32;
// The maximum number of blocks of a grid-stride loop; enough to fill the largest GPU.
inline constexpr int64_t kMaxBlocks = 4096;

inline void Check(cudaError_t error) {
  if (error != cudaSuccess) {
    throw std::runtime_error(std::string("CUDA kernel: ") + cudaGetErrorString(error));
  }
}

// Returns the number of blocks for a grid-stride loop over `items`, one item per thread.
inline unsigned int BlocksFor(int64_t items) {
  const int64_t blocks = (items + kThreads - 1) / kThreads;
  return static_cast<unsigned int>(blocks < 1 ? 1 : (blocks < kMaxBlocks ? blocks : kMaxBlocks));
}

// Returns the number of blocks for `items`, one item per thread, without a loop.
inline unsigned int BlocksToCover(int64_t items) {
  return static_cast<unsigned int>(items < 1 ? 1 : (items + kThreads - 1) / kThreads);
}

// Returns the number of blocks for `rows`, each block taking one row at a time.
inline unsigned int BlocksForRows(int64_t rows) {
  return static_cast<unsigned int>(rows < 1 ? 1 : (rows < kMaxBlocks ? rows : kMaxBlocks));
}

// Shared memory that every GPU gives a block by default.
inline constexpr size_t kDefaultSharedBytes = 48 << 10;
// An upper bound on the shared memory that a kernel declares statically, in addition to its dynamic
// shared memory.
inline constexpr size_t kDeclaredSharedBytes = 1 << 10;

// Returns whether the current GPU gives a block `shared_bytes` of dynamic shared memory.
inline bool FitsBlock(size_t shared_bytes) {
  const size_t needed = shared_bytes + kDeclaredSharedBytes;
  if (needed <= kDefaultSharedBytes) return true;
  int device = 0;
  int most = 0;
  Check(cudaGetDevice(&device));
  Check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  return needed <= static_cast<size_t>(most);
}

// Returns the number of multiprocessors of the current GPU, for grids that just fill it.
inline int Multiprocessors() {
  thread_local int known_device = -1;
  thread_local int count = 0;
  int device = 0;
  Check(cudaGetDevice(&device));
  if (device != known_device) {
    Check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
    known_device = device;
  }
  return count;
}

// Returns the bytes of shared memory of a multiprocessor of the current GPU.
inline size_t MultiprocessorShared() {
  int device = 0;
  int bytes = 0;
  Check(cudaGetDevice(&device));
  Check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device));
  return static_cast<size_t>(bytes);
}

// Runs `kernel` on blocks of `threads`, each with `shared_bytes` of dynamic shared memory.
template <typename Args, typename... More>
void StartBlocksOf(dim3 threads, void (*kernel)(Args, More...), dim3 blocks, size_t shared_bytes,
                   cudaStream_t stream, const Args& args, std::type_identity_t<More>... more) {
  if (shared_bytes + kDeclaredSharedBytes > kDefaultSharedBytes) {
    Check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shared_bytes)));
  }
  cudaLaunchConfig_t config = {};
  config.gridDim = blocks;
  config.blockDim = threads;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  Check(cudaLaunchKernelEx(&config, kernel, args, more...));
}

// Runs `kernel` on blocks of kThreads threads.
template <typename Args, typename... More>
void Start(void (*kernel)(Args, More...), dim3 blocks, size_t shared_bytes, cudaStream_t stream,
           const Args& args, std::type_identity_t<More>... more) {
  StartBlocksOf(dim3(kThreads), kernel, blocks, shared_bytes, stream, args, more...);
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

// kCount neighbouring elements that are read or written together, in accesses of up to 128 bits.
template <typename T, int kCount>
struct alignas(sizeof(T) * kCount < 16 ? sizeof(T) * kCount : 16) Pack {
  T values[kCount];
};

inline constexpr int kAccessBytes = 16;

// Returns whether arrays that start at `arrays`, with rows of `length` elements, can be accessed in
// packs of 128 bits. Null stands for an array that does not exist.
template <typename T>
bool Packs(int64_t length, std::initializer_list<const void*> arrays) {
  if (length % (kAccessBytes / static_cast<int64_t>(sizeof(T))) != 0) return false;
  for (const void* array : arrays) {
    if (reinterpret_cast<uintptr_t>(array) % kAccessBytes != 0) return false;
  }
  return true;
}

// Calls body with the number of elements in a pack, as a constant: the number that fits in 128 bits
// if `packs`, else 1.
template <typename T, typename Body>
void WithPack(bool packs, const Body& body) {
  if (packs) {
    body(std::integral_constant<int, kAccessBytes / sizeof(T)>{});
  } else {
    body(std::integral_constant<int, 1>{});
  }
}

template <int kCount, typename T>
__device__ Pack<T, kCount> Load(const T* array, int64_t pack) {
  return reinterpret_cast<const Pack<T, kCount>*>(array)[pack];
}

template <int kCount, typename T>
__device__ void Store(const Pack<T, kCount>& values, T* array, int64_t pack) {
  reinterpret_cast<Pack<T, kCount>*>(array)[pack] = values;
}

// Returns the number of blocks for flat arrays of `count` elements, one pack per thread
// (ForPackOfThread).
template <int kPack>
unsigned int BlocksForPacks(int64_t count) {
  return BlocksToCover(count / kPack + count % kPack);
}

__device__ inline int64_t GlobalThread() {
  return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

// Calls body(elements in the pack as a constant, index of the pack) for the thread's pack of a flat
// array. Threads after the last whole pack get the remaining elements, one each.
template <int kPack, typename Body>
__device__ void ForPackOfThread(int64_t count, const Body& body) {
  const int64_t packs = count / kPack;
  const int64_t thread = GlobalThread();
  if (thread < packs) {
    body(std::integral_constant<int, kPack>{}, thread);
  } else if (const int64_t element = packs * kPack + (thread - packs); element < count) {
    body(std::integral_constant<int, 1>{}, element);
  }
}

// The block's dynamic shared memory.
extern __shared__ int4 dynamic_shared[];

template <typename T>
__device__ T* DynamicShared() {
  return reinterpret_cast<T*>(dynamic_shared);
}

// Returns exp(x), in fp32 to the accuracy of the GPU's instruction.
__device__ inline float FastExp(float x) { return __expf(x); }
__device__ inline double FastExp(double x) { return exp(x); }

// Returns 1 / x for x >= 1. In fp32 the GPU's instruction is within 2 ulp, and gives 0 for x above
// 2^126.
__device__ inline float FastReciprocal(float x) { return __fdividef(1.0f, x); }
__device__ inline double FastReciprocal(double x) { return 1 / x; }

// Returns to each lane the sum over its group of `lanes` neighbouring lanes. REQUIRES: `lanes` is a
// power of two, and the whole warp calls the function.
template <typename T>
__device__ T SumOfLanes(T value, int lanes) {
  for (int offset = lanes / 2; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  }
  return value;
}

// Returns to every thread the sum over its warp.
template <typename T>
__device__ T WarpSum(T value) {
  return SumOfLanes(value, kWarp);
}

// Returns to every thread the sum over its block.
template <typename T>
__device__ T BlockSum(T value) {
  __shared__ T partial[kThreads / kWarp];
  value = WarpSum(value);
  __syncthreads();  // a previous call may still read the array
  if (threadIdx.x % kWarp == 0) partial[threadIdx.x / kWarp] = value;
  __syncthreads();
  T sum = 0;
  for (int i = 0; i < kThreads / kWarp; ++i) sum += partial[i];
  return sum;
}

// Returns to every thread the maximum over its block.
template <int kBlockThreads = kThreads, typename T>
__device__ T BlockMax(T value) {
  __shared__ T partial[kBlockThreads / kWarp];
  for (int offset = kWarp / 2; offset > 0; offset /= 2) {
    const T other = __shfl_xor_sync(0xffffffffu, value, offset);
    value = other > value ? other : value;
  }
  __syncthreads();
  if (threadIdx.x % kWarp == 0) partial[threadIdx.x / kWarp] = value;
  __syncthreads();
  T max = partial[0];
  for (int i = 1; i < kBlockThreads / kWarp; ++i) max = partial[i] > max ? partial[i] : max;
  return max;
}

// Each launches one operator on `stream`.
void Launch(const RmsNormForward& args, cudaStream_t stream);
void Launch(const RmsNormBackward& args, cudaStream_t stream);
void Launch(const LayerNormForward& args, cudaStream_t stream);
void Launch(const LayerNormBackward& args, cudaStream_t stream);
void Launch(const HeadNormForward& args, cudaStream_t stream);
void Launch(const HeadNormBackward& args, cudaStream_t stream);
void Launch(const SwigluForward& args, cudaStream_t stream);
void Launch(const SwigluBackward& args, cudaStream_t stream);
void Launch(const RouterForward& args, cudaStream_t stream);
void Launch(const RouterBackward& args, cudaStream_t stream);
void Launch(const GatherRows& args, cudaStream_t stream);
void Launch(const ScatterRows& args, cudaStream_t stream);
void Launch(const SumRows& args, cudaStream_t stream);
void Launch(const ExpertSwigluForward& args, cudaStream_t stream);
void Launch(const ExpertSwigluBackward& args, cudaStream_t stream);
void Launch(const WeighedBias& args, cudaStream_t stream);
void Launch(const WeighedBiasBackward& args, cudaStream_t stream);
void Launch(const ActivationForward& args, cudaStream_t stream);
void Launch(const ActivationBackward& args, cudaStream_t stream);
void Launch(const BiasGradient& args, cudaStream_t stream);
void Launch(const Rope& args, cudaStream_t stream);
void Launch(const AttentionMerge& args, cudaStream_t stream);
void Launch(const AttentionSink& args, cudaStream_t stream);
void Launch(const AttentionSinkGradient& args, cudaStream_t stream);
void Launch(const CrossEntropyStatistics& args, cudaStream_t stream);
void Launch(const CrossEntropyRescale& args, cudaStream_t stream);
void Launch(const CrossEntropyLoss& args, cudaStream_t stream);
void Launch(const CrossEntropyBackward& args, cudaStream_t stream);
void Launch(const EmbeddingForward& args, cudaStream_t stream);
void Launch(const EmbeddingBackward& args, cudaStream_t stream);
void Launch(const Accumulate& args, cudaStream_t stream);
void Launch(const SumOfSquares& args, cudaStream_t stream);
void Launch(const RandomNormal& args, cudaStream_t stream);
void Launch(const AdamW& args, cudaStream_t stream);
void Launch(const Quantise& args, cudaStream_t stream);
void Launch(const Dequantise& args, cudaStream_t stream);

}  // namespace meshwright::kernels::cuda

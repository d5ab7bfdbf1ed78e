// Distributes rows that are kept in registers: the lanes of a row are whole warps along x of a
// block, and the rows of a block lie along y.
#pragma once

#include <algorithm>

#include "kernels/cuda/lane_part.cuh"

namespace meshwright::kernels::cuda {

inline constexpr int kMostRowLanes = 512;

// The interface that LanePart needs.
struct RowLanes {
  int packs;

  __device__ int Lane() const { return static_cast<int>(threadIdx.x); }
  __device__ int Lanes() const { return static_cast<int>(blockDim.x); }
  __device__ int Packs() const { return packs; }
  __device__ static int64_t FirstRow() { return static_cast<int64_t>(blockIdx.x) * blockDim.y; }
};

// Returns the dimensions of a block for rows of `packs` packs, of which a lane holds up to
// `lane_packs`. A row gets as few warps as possible, since its warps wait for each other at
// barriers. If a row gets one or two warps, the block has several rows.
inline dim3 RowThreads(int64_t packs, int lane_packs) {
  constexpr unsigned int kLeastWarps = 4;
  const int64_t warp_packs = int64_t{kWarp} * lane_packs;
  const auto warps =
      static_cast<unsigned int>(std::max<int64_t>((packs + warp_packs - 1) / warp_packs, 1));
  return dim3(warps * kWarp, std::max(kLeastWarps / warps, 1u));
}

// Returns the number of blocks that cover each of `rows` once.
inline int64_t BlocksOfRows(int64_t rows, const dim3& threads) {
  return std::max<int64_t>((rows + threads.y - 1) / threads.y, 1);
}

// Returns the number of blocks that the GPU runs concurrently, but no more than cover all rows
// once. A multiprocessor has registers for `threads_at_once` threads, and a block needs
// `shared_bytes` of shared memory.
inline unsigned int BlocksAtOnce(int64_t rows, const dim3& threads, int threads_at_once,
                                 size_t shared_bytes) {
  // Includes the shared memory that the system reserves per block and that kernels declare.
  const size_t block_shared = shared_bytes + 2 * kDeclaredSharedBytes;
  const int64_t blocks =
      std::min<int64_t>(threads_at_once / static_cast<int64_t>(threads.x * threads.y),
                        static_cast<int64_t>(MultiprocessorShared() / block_shared));
  return static_cast<unsigned int>(
      std::min(Multiprocessors() * std::max<int64_t>(blocks, 1), BlocksOfRows(rows, threads)));
}

// Sums values over the lanes of a row. The whole block must take part.
template <typename A, int kCount>
class RowTotals {
 public:
  // Replaces each value by its sum.
  __device__ void Take(A (&values)[kCount]) {
    // Two buffers alternate, so that one barrier suffices: at the next barrier all threads have
    // read this buffer.
    __shared__ A partial[2][kCount][kMostRowLanes / kWarp];
    for (A& value : values) value = WarpSum(value);
    const unsigned int warps = blockDim.x / kWarp;
    if (warps == 1) return;
    const unsigned int first = threadIdx.y * warps;
    if (threadIdx.x % kWarp == 0) {
      for (int i = 0; i < kCount; ++i) {
        partial[turn_][i][first + threadIdx.x / kWarp] = values[i];
      }
    }
    __syncthreads();
    for (int i = 0; i < kCount; ++i) {
      values[i] = 0;
      for (unsigned int warp = 0; warp < warps; ++warp) {
        values[i] += partial[turn_][i][first + warp];
      }
    }
    turn_ ^= 1;
  }

 private:
  int turn_ = 0;
};

}  // namespace meshwright::kernels::cuda

// Prefetches packs into shared memory well before they are needed, without using registers. A
// thread reads only what it fetched itself, so no synchronization is needed.
#pragma once

#include "kernels/cuda/launch.cuh"

namespace meshwright::kernels::cuda {

// Copies 128 bits to shared memory asynchronously.
__device__ inline void FetchPack(int4* shared, const void* from) {
#if defined(__CUDA_ARCH__)
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                   static_cast<unsigned int>(__cvta_generic_to_shared(shared))),
               "l"(from)
               : "memory");
#else
  memcpy(shared, from, sizeof(*shared));
#endif
}

// Ends a group of the thread's fetches: those since the last call.
__device__ inline void EndFetches() {
#if defined(__CUDA_ARCH__)
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits for all but the latest kGroups groups.
template <int kGroups>
__device__ void AwaitFetches() {
#if defined(__CUDA_ARCH__)
  asm volatile("cp.async.wait_group %0;" ::"n"(kGroups) : "memory");
#endif
}

// The thread's part of the block's ring, which is at the beginning of the dynamic shared memory.
// Each thread has kStages groups of kPacks packs. Packs that were never fetched are zero.
template <int kPacks, int kStages>
class PackRing {
 public:
  static constexpr size_t Bytes(size_t threads) {
    return threads * kPacks * kStages * kAccessBytes;
  }

  __device__ PackRing() {
    const unsigned int thread = threadIdx.y * blockDim.x + threadIdx.x;
    first_ = static_cast<int>(thread / kWarp) * kWarp * kPacks * kStages +
             static_cast<int>(thread % kWarp);
    for (int i = 0; i < kPacks * kStages; ++i) {
      DynamicShared<int4>()[first_ + i * kWarp] = int4{0, 0, 0, 0};
    }
  }
  // Starts to fetch pack `pack` of the group that the next End() ends.
  __device__ void Fetch(int pack, const void* from) const {
    FetchPack(DynamicShared<int4>() + first_ + write_ + pack * kWarp, from);
  }
  __device__ void End() {
    EndFetches();
    Advance(write_);
  }
  // Returns pack `pack` of the oldest group.
  template <int kCount, typename T>
  __device__ Pack<T, kCount> Get(int pack) const {
    static_assert(sizeof(Pack<T, kCount>) == kAccessBytes);
    return DynamicShared<Pack<T, kCount>>()[first_ + read_ + pack * kWarp];
  }
  // Waits for the oldest group. REQUIRES: kStages groups are in the ring.
  __device__ static void Await() { AwaitFetches<kStages - 1>(); }
  __device__ void TakeOff() { Advance(read_); }

 private:
  __device__ static void Advance(int& stage) {
    stage += kPacks * kWarp;
    if (stage == kStages * kPacks * kWarp) stage = 0;
  }

  int first_;
  int write_ = 0;
  int read_ = 0;
};

}  // namespace meshwright::kernels::cuda

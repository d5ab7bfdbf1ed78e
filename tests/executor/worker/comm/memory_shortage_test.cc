#include "executor/worker/comm/memory_shortage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace meshwright::worker {
namespace {

using testing::Optional;

// As Torch 2.11 and NCCL 2.28 put it.
constexpr char kAllocator[] =
    "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of "
    "which 1.10 GiB is free. Including non-PyTorch memory, this process has 78.04 GiB memory in "
    "use. Of the allocated memory 75.00 GiB is allocated by PyTorch, and 1.90 GiB is reserved by "
    "PyTorch but unallocated.";
constexpr char kLaunch[] =
    "CUDA error: out of memory\nSearch for `cudaErrorMemoryAllocation' in "
    "https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html for more "
    "information.\nCUDA kernel errors might be asynchronously reported at some other API call, so "
    "the stacktrace below might be incorrect.";
constexpr char kCublas[] =
    "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`";
constexpr char kCudnn[] = "cuDNN error: CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED";
constexpr char kNcclCalloc[] =
    "connect: NCCL error in: /pytorch/torch/csrc/distributed/c10d/NCCLUtils.cpp:94, unhandled cuda "
    "error (run with NCCL_DEBUG=INFO for details), NCCL version 2.28.9\nncclUnhandledCudaError: "
    "Call to CUDA function failed.\nLast error:\nFailed to CUDA calloc async 10485760 bytes";
constexpr char kNcclCuda[] =
    "all-reduce: NCCL error in: /pytorch/torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:3768, "
    "unhandled cuda error (run with NCCL_DEBUG=INFO for details), NCCL version "
    "2.28.9\nncclUnhandledCudaError: Call to CUDA function failed.\nLast error:\nCuda failure 2 "
    "'out of memory'";

TEST(MemoryShortageTest, TheAllocatorsErrorIsItsOwn) {
  EXPECT_EQ(WhatWasRefused(kAllocator), RefusedMemory::kAllocator);
  EXPECT_EQ(WhatWasRefused(std::string("all-gather: ") + kAllocator), RefusedMemory::kAllocator);
}

TEST(MemoryShortageTest, LibrariesLaunchesAndCommunicatorsLackTheDevicesMemory) {
  for (const char* text : {kLaunch, kCublas, kCudnn, kNcclCalloc, kNcclCuda,
                           "CUDA driver error: out of memory", "CUDA kernel: out of memory"}) {
    EXPECT_EQ(WhatWasRefused(text), RefusedMemory::kDevice) << text;
  }
}

TEST(MemoryShortageTest, OtherErrorsOfTheSameLibrariesAreNone) {
  for (const char* text :
       {"", "CUDA error: an illegal memory access was encountered",
        "CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasSgemm(...)`",
        "cuDNN error: CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED",
        "connect: NCCL error in: NCCLUtils.cpp:94, unhandled cuda error (run with NCCL_DEBUG=INFO "
        "for details), NCCL version 2.28.9\nncclUnhandledCudaError: Call to CUDA function failed."
        "\nLast error:\nCuda failure 700 'an illegal memory access was encountered'",
        "connect: NCCL error in: NCCLUtils.cpp:94, unhandled system error (run with "
        "NCCL_DEBUG=INFO for details)\nLast error:\nFailed to CUDA host alloc 4096 bytes",
        "recv: NCCL error: remote process exited or there was a network error"}) {
    EXPECT_EQ(WhatWasRefused(text), RefusedMemory::kNone) << text;
    EXPECT_EQ(ShortageOf(text, MemoryShortage{1, 2, 3}, {4, 5}), std::nullopt) << text;
  }
}

// When the error is handled, everything that was held has been released.
TEST(MemoryShortageTest, TellsWhatWasHeldWhenTheAllocatorRefused) {
  const MemoryShortage refused = {.requested_bytes = 2'147'483'648,
                                  .held_bytes = 80'530'636'800,
                                  .limit_bytes = 84'987'740'979};
  const DeviceMemory device = {.used_bytes = 600'000'000, .total_bytes = 84'987'740'979};
  EXPECT_THAT(ShortageOf(kAllocator, refused, device), Optional(refused));
}

TEST(MemoryShortageTest, BesideTheAllocatorTheWholeDeviceIsShort) {
  // Of an earlier try that something smaller then took the place of.
  const MemoryShortage refused = {.requested_bytes = 7, .held_bytes = 8, .limit_bytes = 9};
  const DeviceMemory device = {.used_bytes = 84'900'000'000, .total_bytes = 84'987'740'979};
  EXPECT_THAT(
      ShortageOf(kCublas, refused, device),
      Optional(MemoryShortage{
          .requested_bytes = 0, .held_bytes = 84'900'000'000, .limit_bytes = 84'987'740'979}));
  EXPECT_THAT(ShortageOf(kNcclCalloc, std::nullopt, device),
              Optional(MemoryShortage{.requested_bytes = 10'485'760,
                                      .held_bytes = 84'900'000'000,
                                      .limit_bytes = 84'987'740'979}));
}

}  // namespace
}  // namespace meshwright::worker

#include "executor/worker/comm/memory_shortage.h"

#include <algorithm>
#include <array>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "base/text/string_view.h"

namespace meshwright::worker {
namespace {

// Messages of Torch's caching allocator, and of the one over cudaMallocAsync.
constexpr std::array<std::string_view, 2> kAllocatorTexts = {
    "CUDA out of memory. Tried to allocate",
    "would exceed allowed memory. (out of memory)",
};

// NCCL appends the bytes to these; its messages for host allocations differ.
constexpr std::array<std::string_view, 3> kNcclTexts = {
    "Failed to CUDA calloc async ",
    "Failed to CUDA calloc ",
    "Failed to CUDA malloc ",
};

constexpr std::array<std::string_view, 7> kDeviceTexts = {
    "CUDA error: out of memory",         // cudaErrorMemoryAllocation of a call or a launch
    "CUDA driver error: out of memory",  // CUDA_ERROR_OUT_OF_MEMORY
    "CUDA kernel: out of memory",        // a launch of kernels/cuda
    "CUBLAS_STATUS_ALLOC_FAILED",       "CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED",
    "Cuda failure 2 'out of memory'",  // NCCL's last error
    "Cuda failure 'out of memory'",
};

template <size_t N>
bool ContainsAny(std::string_view text, const std::array<std::string_view, N>& parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return Contains(text, part); });
}

int64_t RequestedBytes(std::string_view error) {
  for (const std::string_view before : kNcclTexts) {
    const size_t at = error.find(before);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = error.substr(at + before.size());
    const auto end = std::find_if_not(rest.begin(), rest.end(),
                                      [](unsigned char c) { return absl::ascii_isdigit(c); });
    int64_t bytes = 0;
    if (absl::SimpleAtoi(absl::string_view(rest.data(), static_cast<size_t>(end - rest.begin())),
                         &bytes)) {
      return bytes;
    }
  }
  return 0;
}

}  // namespace

RefusedMemory WhatWasRefused(std::string_view error) {
  if (ContainsAny(error, kAllocatorTexts)) return RefusedMemory::kAllocator;
  if (ContainsAny(error, kDeviceTexts) || ContainsAny(error, kNcclTexts)) {
    return RefusedMemory::kDevice;
  }
  return RefusedMemory::kNone;
}

std::optional<MemoryShortage> ShortageOf(std::string_view error,
                                         const std::optional<MemoryShortage>& refused,
                                         const DeviceMemory& device) {
  const RefusedMemory what = WhatWasRefused(error);
  if (what == RefusedMemory::kNone) return std::nullopt;
  if (what == RefusedMemory::kAllocator && refused.has_value()) return refused;
  return MemoryShortage{.requested_bytes = RequestedBytes(error),
                        .held_bytes = device.used_bytes,
                        .limit_bytes = device.total_bytes};
}

}  // namespace meshwright::worker

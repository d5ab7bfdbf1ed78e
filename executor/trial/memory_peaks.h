// MemoryPeaks holds the largest amounts of memory that a rank used during its steps.
#pragma once

#include <cstdint>
#include <optional>

namespace meshwright::trial {

// Device memory in addition to the tensors' memory; absent on a CPU.
struct DeviceMemoryUse {
  // Peak bytes that the allocator reserved on the device: tensors, and freed blocks that it cached.
  // A memory limit applies to these bytes.
  int64_t peak_reserved_bytes = 0;
  // The number of times that the allocator found no free block, released its cache and retried.
  // Each retry waits for the device.
  int64_t allocator_retries = 0;
  // Bytes of communicators' buffers, and of code loaded since the groups were connected. This is
  // the difference of two readings of the bytes in use on the device outside the allocator: one at
  // the end, and one just before the groups were connected, when the CUDA context already existed.
  // The readings include other processes on the device, if any. 0 without groups.
  int64_t communicator_bytes = 0;

  friend bool operator==(const DeviceMemoryUse&, const DeviceMemoryUse&) = default;
};

struct MemoryPeaks {
  int64_t allocated_bytes = 0;  // peak bytes of live tensors
  std::optional<DeviceMemoryUse> device;

  friend bool operator==(const MemoryPeaks&, const MemoryPeaks&) = default;
};

}  // namespace meshwright::trial

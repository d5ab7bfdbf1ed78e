// MemoryPeaks holds the largest amounts of memory that a rank used during its steps.
#pragma once

#include <cstdint>
#include <optional>

namespace meshwright::trial {

// Device memory beside what tensors hold; absent on a CPU.
struct DeviceMemoryUse {
  // Peak bytes that the allocator reserved on the device: tensors, and freed blocks that it cached.
  // A memory limit bounds this.
  int64_t peak_reserved_bytes = 0;
  // How often the allocator found no free block and released its cache before retrying; each time
  // waits for the device.
  int64_t allocator_retries = 0;
  // Bytes in use on the device outside the allocator at the end, less those before the groups were
  // connected, which excludes the context: buffers of communicators, and code loaded since.
  // Counts all use of the device, as if the rank had it alone. 0 without groups.
  int64_t communicator_bytes = 0;

  friend bool operator==(const DeviceMemoryUse&, const DeviceMemoryUse&) = default;
};

struct MemoryPeaks {
  int64_t allocated_bytes = 0;  // peak bytes of live tensors
  std::optional<DeviceMemoryUse> device;

  friend bool operator==(const MemoryPeaks&, const MemoryPeaks&) = default;
};

}  // namespace meshwright::trial

// What a rank's memory came to at most during its steps.
#pragma once

#include <cstdint>
#include <optional>

namespace meshwright::trial {

// Of a device, beside what tensors hold. A CPU has nothing of it.
struct DeviceMemoryUse {
  // Most that the allocator took of the device: what tensors held, with what it kept of what they
  // released. A memory limit bounds this.
  int64_t peak_reserved_bytes = 0;
  // How often it found nothing and gave back what it kept before it went on: each waits for the
  // device.
  int64_t allocator_retries = 0;
  // In use of the device outside the allocator at the end, less what there was before the groups
  // were connected, which leaves out the context: buffers of communicators, and code that was
  // loaded since. Counts whatever is on the device, as if the rank had it alone. 0 without groups.
  int64_t communicator_bytes = 0;

  friend bool operator==(const DeviceMemoryUse&, const DeviceMemoryUse&) = default;
};

struct MemoryPeaks {
  int64_t allocated_bytes = 0;  // most that tensors held at once
  std::optional<DeviceMemoryUse> device;

  friend bool operator==(const MemoryPeaks&, const MemoryPeaks&) = default;
};

}  // namespace meshwright::trial

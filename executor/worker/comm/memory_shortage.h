// ShortageOf() recognizes out-of-memory errors of a device by their text. It knows the messages of
// CUDA and its libraries, but depends on neither CUDA nor Torch.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace meshwright::worker {

// The bytes of a refused request (0 if unknown), and the bytes held and allowed at that time. These
// are captured when the request is refused, since by the time an error is handled, held memory has
// been released.
struct MemoryShortage {
  int64_t requested_bytes = 0;
  int64_t held_bytes = 0;
  int64_t limit_bytes = 0;

  friend bool operator==(const MemoryShortage&, const MemoryShortage&) = default;
};

// The allocator whose request was refused. Libraries, kernel launches and communicators allocate
// from the device directly, not through Torch's allocator.
enum class RefusedMemory : uint8_t { kNone, kAllocator, kDevice };

// Returns the allocator whose request was refused according to an error's text (without its stack
// trace).
RefusedMemory WhatWasRefused(std::string_view error);

// The memory of a device that is used by all processes, and the device's total memory.
struct DeviceMemory {
  int64_t used_bytes = 0;
  int64_t total_bytes = 0;
};

// Returns the shortage that `error` reports, or nullopt for other errors. `refused` is the
// allocator's last refusal. If memory outside the allocator was refused, the whole device is short
// of memory, and the result has the figures of `device`. The caller may read `device` when it
// handles the error, since the allocator keeps the memory that tensors release.
std::optional<MemoryShortage> ShortageOf(std::string_view error,
                                         const std::optional<MemoryShortage>& refused,
                                         const DeviceMemory& device);

}  // namespace meshwright::worker

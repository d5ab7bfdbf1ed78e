// Recognizes out-of-memory errors of a device by their text. Knows the messages of CUDA and its
// libraries, but depends on neither CUDA nor Torch.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace meshwright::worker {

// Bytes requested (0 where unknown), held and allowed. Captured when the request was refused: by
// the time an error is handled, held memory has been released.
struct MemoryShortage {
  int64_t requested_bytes = 0;
  int64_t held_bytes = 0;
  int64_t limit_bytes = 0;

  friend bool operator==(const MemoryShortage&, const MemoryShortage&) = default;
};

// Which allocator was refused. Libraries, kernel launches and communicators allocate from the
// device directly, not through Torch's allocator.
enum class RefusedMemory : uint8_t { kNone, kAllocator, kDevice };

// Classifies an error's text, without its stack trace.
RefusedMemory WhatWasRefused(std::string_view error);

// A device's memory in use by all processes, and its total.
struct DeviceMemory {
  int64_t used_bytes = 0;
  int64_t total_bytes = 0;
};

// Returns the shortage that `error` reports; nothing for other errors. `refused` is the allocator's
// last refusal. For allocations outside the allocator the whole device is short: `device` may be
// read when the error is handled, since the allocator keeps what tensors release.
std::optional<MemoryShortage> ShortageOf(std::string_view error,
                                         const std::optional<MemoryShortage>& refused,
                                         const DeviceMemory& device);

}  // namespace meshwright::worker

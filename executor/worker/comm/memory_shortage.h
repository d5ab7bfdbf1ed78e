// Recognizes out-of-memory errors of a device by their text. Knows the messages of CUDA and its
// libraries, but depends on neither CUDA nor Torch.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace meshwright::worker {

// What a refused request asked for (0 if unknown), and what was held and allowed then. It is
// captured when the request is refused: by the time an error is handled, held memory has been
// released.
struct MemoryShortage {
  int64_t requested_bytes = 0;
  int64_t held_bytes = 0;
  int64_t limit_bytes = 0;

  friend bool operator==(const MemoryShortage&, const MemoryShortage&) = default;
};

// Which allocator was refused. Libraries, kernel launches and communicators allocate from the
// device directly, not through Torch's allocator.
enum class RefusedMemory : uint8_t { kNone, kAllocator, kDevice };

// Returns which allocator an error's text, without its stack trace, says was refused.
RefusedMemory WhatWasRefused(std::string_view error);

// The memory of a device that all processes use, and its total memory.
struct DeviceMemory {
  int64_t used_bytes = 0;
  int64_t total_bytes = 0;
};

// Returns the shortage that `error` reports, or nothing for other errors. `refused` is the
// allocator's last refusal. If memory outside the allocator was refused, the whole device is short
// of memory, so the result has `device`. This may be read when the error is handled, since the
// allocator keeps what tensors release.
std::optional<MemoryShortage> ShortageOf(std::string_view error,
                                         const std::optional<MemoryShortage>& refused,
                                         const DeviceMemory& device);

}  // namespace meshwright::worker

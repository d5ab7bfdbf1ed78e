// A device that ran out of memory: which errors say so, and what is told of it. Knows the texts of
// CUDA and its libraries, but neither CUDA nor Torch.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace meshwright::worker {

// Bytes requested (0 where the error doesn't tell), held and allowed. Taken when the request was
// refused: by the time that an error is handled, what was held is released.
struct MemoryShortage {
  int64_t requested_bytes = 0;
  int64_t held_bytes = 0;
  int64_t limit_bytes = 0;

  friend bool operator==(const MemoryShortage&, const MemoryShortage&) = default;
};

// Who was refused memory. Libraries, launches of kernels and communicators take theirs from the
// device, beside Torch's allocator.
enum class RefusedMemory : uint8_t { kNone, kAllocator, kDevice };

// By an error's text, without a stack trace.
RefusedMemory WhatWasRefused(std::string_view error);

// Of a device's memory: what all that is on it holds, and what there is.
struct DeviceMemory {
  int64_t used_bytes = 0;
  int64_t total_bytes = 0;
};

// What `error` tells of a shortage; nothing where it is about something else. `refused` is what the
// allocator last refused. Beside the allocator the whole device is short: `device` may be read when
// the error is handled, for the allocator keeps what tensors release.
std::optional<MemoryShortage> ShortageOf(std::string_view error,
                                         const std::optional<MemoryShortage>& refused,
                                         const DeviceMemory& device);

}  // namespace meshwright::worker

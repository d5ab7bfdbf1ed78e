// The devices that an agent owns, and parts of them for trials that run side by side.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/trial/trial.h"

namespace meshwright::wire {

struct DeviceSet {
  planner::DeviceKind kind = planner::DeviceKind::kCpu;
  int32_t count = 0;                       // ranks on the CPU, or GPUs
  std::vector<int64_t> memory_bytes = {};  // of each GPU; empty where it is not known
  // Equal parts, each with its part of the host's cores and of the memory that ranks on its
  // processor share. A trial has whole ones, whether or not others are used meanwhile.
  int32_t slots = 1;

  int32_t devices_per_slot() const { return count / slots; }

  friend bool operator==(const DeviceSet&, const DeviceSet&) = default;
};

// Most slots that an agent may have.
inline constexpr int32_t kMostSlots = 64;

// InvalidArgument about the field unless as many slots as it says are equal parts of so many
// devices, and no more than there may be.
absl::Status CheckEqualSlots(std::string_view field, int32_t slots, int32_t devices);
// The same, and each slot has at least one of the host's `cores`.
absl::Status CheckSlots(const DeviceSet& devices, int32_t cores);

// Slots that have devices for so many ranks.
inline int64_t SlotsFor(int64_t ranks, int32_t devices_per_slot) {
  return (ranks + devices_per_slot - 1) / devices_per_slot;
}

// Slots that follow each other.
struct DeviceShare {
  int32_t first_device = 0;
  int32_t first_slot = 0;
  int32_t slots = 1;

  bool Overlaps(const DeviceShare& other) const {
    return first_slot < other.first_slot + other.slots && other.first_slot < first_slot + slots;
  }

  friend bool operator==(const DeviceShare&, const DeviceShare&) = default;
};

// The slots that `ranks` ranks take on `first_device` and those behind it. FailedPrecondition where
// the agent has fewer devices, InvalidArgument where no slot begins there.
absl::StatusOr<DeviceShare> ShareOf(const DeviceSet& devices, int32_t first_device, int64_t ranks);

}  // namespace meshwright::wire

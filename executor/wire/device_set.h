// DeviceSet describes the devices that an agent owns, divided into slots for concurrent trials.
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
  int32_t count = 0;                       // CPU ranks, or GPUs
  std::vector<int64_t> memory_bytes = {};  // per GPU; empty if unknown
  // Number of slots, the equal parts into which the devices are divided. A slot also has an equal
  // share of the host's cores, and of the memory that CPU ranks share. A trial gets whole slots,
  // and uses no other slots even if they are idle.
  int32_t slots = 1;

  int32_t devices_per_slot() const { return count / slots; }

  friend bool operator==(const DeviceSet&, const DeviceSet&) = default;
};

inline constexpr int32_t kMostSlots = 64;

// Returns InvalidArgument for `field` unless `slots` divides `devices` into equal parts and is at
// most kMostSlots.
absl::Status CheckEqualSlots(std::string_view field, int32_t slots, int32_t devices);
// Returns the error of CheckEqualSlots(), if any, and InvalidArgument if there are more slots than
// `cores`, the number of the host's cores.
absl::Status CheckSlots(const DeviceSet& devices, int32_t cores);

// Returns the number of slots needed to give each of `ranks` ranks a device.
inline int64_t SlotsFor(int64_t ranks, int32_t devices_per_slot) {
  return (ranks + devices_per_slot - 1) / devices_per_slot;
}

// A range of consecutive slots.
struct DeviceShare {
  int32_t first_device = 0;
  int32_t first_slot = 0;
  int32_t slots = 1;

  bool Overlaps(const DeviceShare& other) const {
    return first_slot < other.first_slot + other.slots && other.first_slot < first_slot + slots;
  }

  friend bool operator==(const DeviceShare&, const DeviceShare&) = default;
};

// Returns the slots that `ranks` ranks occupy from `first_device` on. Returns FailedPrecondition if
// the agent has too few devices, and InvalidArgument if no slot begins at `first_device`.
absl::StatusOr<DeviceShare> ShareOf(const DeviceSet& devices, int32_t first_device, int64_t ranks);

}  // namespace meshwright::wire

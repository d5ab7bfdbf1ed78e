// FreeDevices tracks which devices of an agent no trial uses.
//
// The devices are divided into slots, equal parts that run trials side by side. A trial takes the
// fewest consecutive whole slots that have a device for each of its ranks. If possible, the first
// slot's index is a multiple of the number of slots taken, so that the free slots fit other trials
// of this size. The same free slots give the same answer.
#pragma once

#include <cstdint>
#include <optional>

#include "executor/wire/device_set.h"

namespace meshwright::server {

class FreeDevices {
 public:
  // All devices are free at first. REQUIRES: `devices` is a multiple of `slots`, which is between 1
  // and wire::kMostSlots.
  FreeDevices(int32_t devices, int32_t slots);

  int32_t free_slots() const;
  bool any() const { return free_ != 0; }
  bool all() const { return free_slots() == slots_; }
  // Returns the first device of the free slots that a trial of `ranks` ranks would take; nullopt if
  // no consecutive free slots have enough devices.
  std::optional<int32_t> Find(int64_t ranks) const;
  // Takes the slots for `ranks` ranks, beginning with the slot of `first_device`. Slots that are
  // already taken stay taken.
  void Take(int32_t first_device, int64_t ranks);
  void TakeAll() { free_ = 0; }

 private:
  static uint64_t Mask(int64_t first_slot, int64_t slots);

  int32_t slots_;
  int32_t per_slot_;  // devices of a slot
  uint64_t free_;     // one bit per slot
};

}  // namespace meshwright::server

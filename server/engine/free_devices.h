// FreeDevices tracks which devices of an agent no trial uses.
//
// The devices are divided into slots, equal parts that run trials side by side. A trial takes
// whole, consecutive slots, as few as have devices for its ranks, and begins at a multiple of their
// number where it can, so that what is left fits others of its size. The same slots give the same
// answer.
#pragma once

#include <cstdint>
#include <optional>

#include "executor/wire/device_set.h"

namespace meshwright::server {

class FreeDevices {
 public:
  // All are free. `devices` is a multiple of `slots`, which is 1 to wire::kMostSlots.
  FreeDevices(int32_t devices, int32_t slots);

  int32_t free_slots() const;
  bool any() const { return free_ != 0; }
  bool all() const { return free_slots() == slots_; }
  // Returns the first of consecutive free devices for that many ranks; nullopt where there are too
  // few.
  std::optional<int32_t> Find(int64_t ranks) const;
  // Slots that are already taken stay taken.
  void Take(int32_t first_device, int64_t ranks);
  void TakeAll() { free_ = 0; }

 private:
  static uint64_t Mask(int64_t first_slot, int64_t slots);

  int32_t slots_;
  int32_t per_slot_;  // devices
  uint64_t free_;     // one bit per slot
};

}  // namespace meshwright::server

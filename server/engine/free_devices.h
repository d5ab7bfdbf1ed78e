// Which devices of an agent no trial has.
//
// They are divided into slots, equal parts that run trials side by side: a trial takes whole slots
// that follow each other, as few as have devices for its ranks. Where it can it begins at a
// multiple of as many, so that what is left fits others of its size. The same slots give the same
// answer.
#pragma once

#include <cstdint>
#include <optional>

#include "executor/wire/device_set.h"

namespace meshwright::server {

class FreeDevices {
 public:
  // All are free. `devices` is a multiple of `slots`, which are 1 to wire::kMostSlots.
  FreeDevices(int32_t devices, int32_t slots);

  int32_t free_slots() const;
  bool any() const { return free_ != 0; }
  bool all() const { return free_slots() == slots_; }
  // The first of free devices that follow each other, for that many ranks; nothing where there are
  // not as many.
  std::optional<int32_t> Find(int64_t ranks) const;
  // Slots that were taken before stay taken.
  void Take(int32_t first_device, int64_t ranks);
  void TakeAll() { free_ = 0; }

 private:
  static uint64_t Mask(int64_t first_slot, int64_t slots);

  int32_t slots_;
  int32_t per_slot_;  // devices
  uint64_t free_;     // a bit a slot
};

}  // namespace meshwright::server

#include "server/engine/free_devices.h"

#include <algorithm>
#include <bit>

namespace meshwright::server {

FreeDevices::FreeDevices(int32_t devices, int32_t slots)
    : slots_(slots), per_slot_(devices / slots), free_(Mask(0, slots)) {}

uint64_t FreeDevices::Mask(int64_t first_slot, int64_t slots) {
  const uint64_t ones = slots >= wire::kMostSlots ? ~uint64_t{0} : (uint64_t{1} << slots) - 1;
  return first_slot >= wire::kMostSlots ? 0 : ones << first_slot;
}

int32_t FreeDevices::free_slots() const { return std::popcount(free_); }

std::optional<int32_t> FreeDevices::Find(int64_t ranks) const {
  const int64_t wanted = wire::SlotsFor(ranks, per_slot_);
  if (wanted > free_slots()) return std::nullopt;
  for (const int64_t step : {wanted, int64_t{1}}) {
    for (int64_t first = 0; first + wanted <= slots_; first += step) {
      const uint64_t mask = Mask(first, wanted);
      if ((free_ & mask) == mask) return static_cast<int32_t>(first * per_slot_);
    }
  }
  return std::nullopt;
}

void FreeDevices::Take(int32_t first_device, int64_t ranks) {
  const int64_t first = std::clamp<int64_t>(first_device / per_slot_, 0, slots_);
  free_ &= ~Mask(first, std::clamp<int64_t>(wire::SlotsFor(ranks, per_slot_), 0, slots_ - first));
}

}  // namespace meshwright::server

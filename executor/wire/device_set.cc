#include "executor/wire/device_set.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"

namespace meshwright::wire {

absl::Status CheckEqualSlots(std::string_view field, int32_t slots, int32_t devices) {
  RETURN_IF_ERROR(CheckRange(field, slots, 1, kMostSlots));
  if (devices % slots == 0) return absl::OkStatus();
  return FieldError(field, absl::StrCat(slots),
                    absl::StrCat("must divide the ", devices, " devices into equal parts"));
}

absl::Status CheckSlots(const DeviceSet& devices, int32_t cores) {
  RETURN_IF_ERROR(CheckEqualSlots("slots", devices.slots, devices.count));
  if (devices.slots > cores) {
    return FieldError(
        "slots", absl::StrCat(devices.slots),
        absl::StrCat("must be at most ", cores, ", the cores of this host: each has its own"));
  }
  return absl::OkStatus();
}

absl::StatusOr<DeviceShare> ShareOf(const DeviceSet& devices, int32_t first_device, int64_t ranks) {
  const int32_t per_slot = devices.devices_per_slot();
  if (first_device < 0 || first_device % per_slot != 0) {
    return FieldError(
        "first_device", absl::StrCat(first_device),
        absl::StrCat("must be a multiple of ", per_slot, ", the devices of each of the agent's ",
                     devices.slots, " slots"));
  }
  if (first_device + ranks > devices.count) {
    const std::string from =
        first_device == 0 ? "" : absl::StrCat(" from device ", first_device, " on");
    return absl::FailedPreconditionError(absl::StrCat("the trial needs ", ranks,
                                                      " devices of this agent", from,
                                                      ", and the agent has ", devices.count));
  }
  return DeviceShare{.first_device = first_device,
                     .first_slot = first_device / per_slot,
                     .slots = static_cast<int32_t>(SlotsFor(ranks, per_slot))};
}

}  // namespace meshwright::wire

// The value of --devices: cpu:N or cuda.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "executor/agent/device_set.h"
#include "executor/trial/trial.h"

namespace meshwright {

struct DevicesFlag {
  DeviceKind kind = DeviceKind::kCpu;
  int32_t count = 0;  // ranks on the CPU; 0 for cuda: every device that is there
};

// InvalidArgument naming the flag and what would be accepted.
absl::StatusOr<DevicesFlag> ParseDevices(std::string_view text);

// The same with the GPUs counted. InvalidArgument where there is none.
absl::StatusOr<DeviceSet> ResolveDevices(std::string_view text);

// GiB as a user types them, in bytes. InvalidArgument unless positive.
absl::StatusOr<int64_t> ParseMemoryLimit(double gib);

}  // namespace meshwright

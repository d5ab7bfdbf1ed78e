// ParseDevices() and ResolveDevices() read the value of --devices, which is cpu:N or cuda.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "executor/trial/trial.h"
#include "executor/wire/device_set.h"
#include "tools/cli/common/context.h"

namespace meshwright::cli {

struct DevicesFlag {
  planner::DeviceKind kind = planner::DeviceKind::kCpu;
  int32_t count = 0;  // ranks on the CPU; 0 for cuda, which takes every visible device
};

// Returns the parsed value of --devices. If it is neither cpu:N nor cuda, returns InvalidArgument,
// which names the flag and says what is accepted.
absl::StatusOr<DevicesFlag> ParseDevices(std::string_view text);

// Parses the value of --devices and, for cuda, lists the devices that are visible to the worker at
// `worker_path`. Returns InvalidArgument, with the reason, if no device is visible.
absl::StatusOr<wire::DeviceSet> ResolveDevices(std::string_view text,
                                               const std::string& worker_path,
                                               const CommandContext& context);

// Converts GiB, as a user typed them, to bytes. Returns InvalidArgument unless `gib` is positive
// and at most 2^20.
absl::StatusOr<int64_t> ParseMemoryLimit(double gib);

}  // namespace meshwright::cli

// Reads the value of --devices: cpu:N or cuda.
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
  int32_t count = 0;  // ranks on the CPU; 0 for cuda: every visible device
};

// InvalidArgument names the flag and what would be accepted.
absl::StatusOr<DevicesFlag> ParseDevices(std::string_view text);

// Also counts the devices that are visible to `worker_path`. InvalidArgument with the reason where
// there is none.
absl::StatusOr<wire::DeviceSet> ResolveDevices(std::string_view text,
                                               const std::string& worker_path,
                                               const CommandContext& context);

// Converts GiB as a user types them to bytes. InvalidArgument unless positive.
absl::StatusOr<int64_t> ParseMemoryLimit(double gib);

}  // namespace meshwright::cli

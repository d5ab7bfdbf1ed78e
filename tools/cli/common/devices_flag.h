// The value of --devices: cpu:N or cuda.
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
  int32_t count = 0;  // ranks on the CPU; 0 for cuda: every device that is there
};

// InvalidArgument naming the flag and what would be accepted.
absl::StatusOr<DevicesFlag> ParseDevices(std::string_view text);

// The same with the devices counted that `worker_path` is shown. InvalidArgument with the reason
// where there is none.
absl::StatusOr<wire::DeviceSet> ResolveDevices(std::string_view text,
                                               const std::string& worker_path,
                                               const CommandContext& context);

// GiB as a user types them, in bytes. InvalidArgument unless positive.
absl::StatusOr<int64_t> ParseMemoryLimit(double gib);

}  // namespace meshwright::cli

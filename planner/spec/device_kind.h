// DeviceKind is the kind of device that a rank runs on.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"

namespace meshwright::planner {

enum class DeviceKind : uint8_t {
  kCpu,   // a process on the cores of its host
  kCuda,  // a GPU that no other rank uses
};

std::string_view DeviceKindName(DeviceKind kind);  // "cpu" or "cuda"
// Parses "cpu" or "cuda". Returns InvalidArgument naming `device`, with the accepted names, for any
// other text.
absl::StatusOr<DeviceKind> ParseDeviceKind(std::string_view name);

// Returns whether the ranks of one host share its processor cores and memory, so that more ranks
// leave less for each.
constexpr bool SharesCores(DeviceKind kind) { return kind == DeviceKind::kCpu; }

}  // namespace meshwright::planner

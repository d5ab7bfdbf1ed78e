// DeviceRange is a range of numbers of devices: "8..1024" stands for 8, 16, 32, ..., 1024.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace meshwright::planner {

inline constexpr int64_t kMostDevicesOfARange = 1 << 20;

struct DeviceRange {
  int64_t low = 0;
  int64_t high = 0;

  bool is_one() const { return low == high; }
  // Returns `low`, its doublings below `high`, and `high`.
  // REQUIRES: 1 <= low <= high.
  std::vector<int64_t> Sizes() const;

  friend bool operator==(const DeviceRange&, const DeviceRange&) = default;
};

// Parses one number, or two with ".." between them. Returns InvalidArgument naming `gpus`, with
// what is accepted, for any other text.
absl::StatusOr<DeviceRange> ParseDeviceRange(std::string_view text);

}  // namespace meshwright::planner

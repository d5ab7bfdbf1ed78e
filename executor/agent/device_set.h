// The devices that an agent owns.
#pragma once

#include <cstdint>
#include <vector>

#include "executor/trial/trial.h"

namespace meshwright::agent {

struct DeviceSet {
  planner::DeviceKind kind = planner::DeviceKind::kCpu;
  int32_t count = 0;                       // ranks on the CPU, or GPUs
  std::vector<int64_t> memory_bytes = {};  // of each GPU; empty where it is not known

  friend bool operator==(const DeviceSet&, const DeviceSet&) = default;
};

}  // namespace meshwright::agent

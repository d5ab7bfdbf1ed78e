// The CUDA devices that a worker of this machine would be shown: `meshwright-worker --devices`.
//
// Only CUDA knows what CUDA_VISIBLE_DEVICES, control groups and MIG leave of a machine's devices,
// so the worker asks it; everybody else asks the worker.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace meshwright::trial {

struct ListedDevice {
  int32_t index = 0;
  std::string name;
  int64_t memory_bytes = 0;
  std::string compute_capability;  // such as "9.0"

  friend bool operator==(const ListedDevice&, const ListedDevice&) = default;
};

struct DeviceList {
  std::vector<ListedDevice> devices;
  std::string reason;  // why there is none

  int32_t count() const { return static_cast<int32_t>(devices.size()); }

  friend bool operator==(const DeviceList&, const DeviceList&) = default;
};

nlohmann::json ToJson(const DeviceList& list);
absl::StatusOr<DeviceList> DeviceListFromJson(const nlohmann::json& json);

// Runs a program for what it prints, within a time: RunProgram, or a test's own.
using ProgramRunner = std::function<absl::StatusOr<std::string>(
    const std::vector<std::string>& arguments, double timeout_s)>;

// Asks the worker at `worker_path`. A worker that is missing, fails or does not answer is an error;
// a machine without a device is an empty list with the reason.
absl::StatusOr<DeviceList> ListDevices(const std::string& worker_path, const ProgramRunner& run);
// The same by running it.
absl::StatusOr<DeviceList> ListDevicesHere(const std::string& worker_path);

}  // namespace meshwright::trial

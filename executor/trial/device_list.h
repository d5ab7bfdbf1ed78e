// DeviceList holds the CUDA devices visible to a worker on this machine (`meshwright-worker
// --devices`).
//
// CUDA_VISIBLE_DEVICES, control groups and MIG can hide devices, and only CUDA knows which devices
// are visible. The worker therefore queries CUDA, and all other programs query the worker.
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
  std::string reason;  // why the list is empty

  int32_t count() const { return static_cast<int32_t>(devices.size()); }

  friend bool operator==(const DeviceList&, const DeviceList&) = default;
};

nlohmann::json ToJson(const DeviceList& list);
absl::StatusOr<DeviceList> DeviceListFromJson(const nlohmann::json& json);

// Runs a program within `timeout_s` and returns its output: RunProgram(), or a test's stand-in.
using ProgramRunner = std::function<absl::StatusOr<std::string>(
    const std::vector<std::string>& arguments, double timeout_s)>;

// Asks the worker at `worker_path` for its devices. Returns an empty list with the reason if the
// machine has no device, and an error if the worker is missing, fails or does not answer.
absl::StatusOr<DeviceList> ListDevices(const std::string& worker_path, const ProgramRunner& run);
// Calls ListDevices() with RunProgram().
absl::StatusOr<DeviceList> ListDevicesHere(const std::string& worker_path);

}  // namespace meshwright::trial

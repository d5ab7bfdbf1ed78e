#include "executor/trial/device_list.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "executor/host/run_program.h"
#include "planner/codec/json_text.h"
#include "planner/base/field_error.h"
#include "planner/base/status_macros.h"

namespace meshwright::trial {
namespace {

// Loading CUDA takes seconds, on a machine with many devices.
constexpr double kTimeoutS = 60.0;

}  // namespace

nlohmann::json ToJson(const DeviceList& list) {
  nlohmann::json devices = nlohmann::json::array();
  for (const ListedDevice& device : list.devices) {
    devices.push_back({{"index", device.index},
                       {"name", device.name},
                       {"memory_bytes", device.memory_bytes},
                       {"compute_capability", device.compute_capability}});
  }
  nlohmann::json json = {{"devices", std::move(devices)}};
  if (!list.reason.empty()) json["reason"] = list.reason;
  return json;
}

absl::StatusOr<DeviceList> DeviceListFromJson(const nlohmann::json& json) {
  try {
    DeviceList list;
    for (const nlohmann::json& device : json.at("devices")) {
      list.devices.push_back({.index = device.at("index"),
                              .name = device.at("name"),
                              .memory_bytes = device.at("memory_bytes"),
                              .compute_capability = device.at("compute_capability")});
    }
    list.reason = json.value("reason", "");
    return list;
  } catch (const nlohmann::json::exception& error) {
    return FieldError("devices", error.what(), "expected what meshwright-worker --devices prints");
  }
}

absl::StatusOr<DeviceList> ListDevices(const std::string& worker_path, const ProgramRunner& run) {
  const absl::StatusOr<std::string> text = run({worker_path, "--devices"}, kTimeoutS);
  if (!text.ok()) {
    return absl::Status(
        text.status().code(),
        absl::StrCat("the worker can't be asked for its devices: ", text.status().message()));
  }
  ASSIGN_OR_RETURN(const nlohmann::json json, planner::ParseJson("devices", *text));
  return DeviceListFromJson(json);
}

absl::StatusOr<DeviceList> ListDevicesHere(const std::string& worker_path) {
  return ListDevices(worker_path, host::RunProgram);
}

}  // namespace meshwright::trial

#include "executor/trial/device_list.h"

#include "absl/strings/str_cat.h"
#include "base/system/run_program.h"
#include "base/text/json_text.h"
#include "base/text/status_macros.h"
#include "planner/codec/json_codec.h"

namespace meshwright::trial {
namespace {

// Loading CUDA takes seconds on a machine with many devices.
constexpr double kDeviceListTimeoutS = 60.0;

}  // namespace

template <planner::ConstOr<ListedDevice> Device, typename Visitor>
void VisitFields(Device& device, Visitor& visit) {
  visit(planner::Needed("index"), device.index);
  visit(planner::Needed("name"), device.name);
  visit(planner::Needed("memory_bytes"), device.memory_bytes);
  visit(planner::Needed("compute_capability"), device.compute_capability);
}

template <planner::ConstOr<DeviceList> List, typename Visitor>
void VisitFields(List& list, Visitor& visit) {
  visit(planner::Needed("devices"), list.devices);
  visit(planner::OnlyIf(!list.reason.empty(), "reason"), list.reason);
}

nlohmann::json ToJson(const DeviceList& list) { return planner::WriteJson(list); }

absl::StatusOr<DeviceList> DeviceListFromJson(const nlohmann::json& json) {
  DeviceList list;
  RETURN_IF_ERROR(planner::ReadJson("what meshwright-worker --devices prints", json,
                                    planner::UnknownKeys::kPassOver, list));
  return list;
}

absl::StatusOr<DeviceList> ListDevices(const std::string& worker_path, const ProgramRunner& run) {
  const absl::StatusOr<std::string> text = run({worker_path, "--devices"}, kDeviceListTimeoutS);
  if (!text.ok()) {
    return absl::Status(text.status().code(), absl::StrCat("the worker did not list its devices: ",
                                                           text.status().message()));
  }
  ASSIGN_OR_RETURN(const nlohmann::json json, ParseJson("devices", *text));
  return DeviceListFromJson(json);
}

absl::StatusOr<DeviceList> ListDevicesHere(const std::string& worker_path) {
  return ListDevices(worker_path, RunProgram);
}

}  // namespace meshwright::trial

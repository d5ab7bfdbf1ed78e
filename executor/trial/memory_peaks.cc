#include "executor/trial/memory_peaks.h"

namespace meshwright::trial {

void AddToJson(const std::optional<DeviceMemoryUse>& use, nlohmann::json& object) {
  if (!use.has_value()) return;
  object["peak_reserved_bytes"] = use->peak_reserved_bytes;
  object["allocator_retries"] = use->allocator_retries;
  object["communicator_bytes"] = use->communicator_bytes;
}

std::optional<DeviceMemoryUse> DeviceMemoryUseFromJson(const nlohmann::json& object) {
  if (!object.contains("peak_reserved_bytes")) return std::nullopt;
  return DeviceMemoryUse{.peak_reserved_bytes = object.at("peak_reserved_bytes"),
                         .allocator_retries = object.at("allocator_retries"),
                         .communicator_bytes = object.at("communicator_bytes")};
}

}  // namespace meshwright::trial

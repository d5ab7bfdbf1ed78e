#include "planner/spec/device_kind.h"

#include "base/text/enum_names.h"

namespace meshwright::planner {
namespace {

constexpr EnumNames<DeviceKind, 2> kNames = {{
    {DeviceKind::kCpu, "cpu"},
    {DeviceKind::kCuda, "cuda"},
}};

}  // namespace

std::string_view DeviceKindName(DeviceKind kind) { return NameOf(kNames, kind); }

absl::StatusOr<DeviceKind> ParseDeviceKind(std::string_view name) {
  for (const auto& [kind, known] : kNames) {
    if (known == name) return kind;
  }
  return FieldError("device", name, "expected one of cpu, cuda");
}

}  // namespace meshwright::planner

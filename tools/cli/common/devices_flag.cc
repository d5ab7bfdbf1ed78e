#include "tools/cli/common/devices_flag.h"

#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/text/amounts.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"

namespace meshwright::cli {

absl::StatusOr<DevicesFlag> ParseDevices(std::string_view text) {
  constexpr int32_t kMaxRanks = 1024;
  const std::string lower = absl::AsciiStrToLower(AbslView(text));
  if (lower == "cuda") return DevicesFlag{planner::DeviceKind::kCuda, 0};
  absl::string_view rest = lower;
  int32_t count = 0;
  if (absl::ConsumePrefix(&rest, "cpu:") && absl::SimpleAtoi(rest, &count) && count >= 1 &&
      count <= kMaxRanks) {
    return DevicesFlag{planner::DeviceKind::kCpu, count};
  }
  return FieldError("devices", text, "must be cpu:N with N from 1 to 1024, or cuda");
}

absl::StatusOr<wire::DeviceSet> ResolveDevices(std::string_view text,
                                               const std::string& worker_path,
                                               const CommandContext& context) {
  ASSIGN_OR_RETURN(const DevicesFlag flag, ParseDevices(text));
  if (flag.kind == planner::DeviceKind::kCpu) return wire::DeviceSet{flag.kind, flag.count};
  ASSIGN_OR_RETURN(const trial::DeviceList list, context.list_devices(worker_path));
  if (list.count() > 0) {
    wire::DeviceSet devices{flag.kind, list.count()};
    for (const trial::ListedDevice& device : list.devices) {
      devices.memory_bytes.push_back(device.memory_bytes);
    }
    return devices;
  }
  return FieldError("devices", text, absl::StrCat("there is no CUDA device here: ", list.reason));
}

absl::StatusOr<int64_t> ParseMemoryLimit(double gib) {
  constexpr double kMaxGib = 1 << 20;
  if (!(gib > 0) || gib > kMaxGib) {
    return FieldError("memory_limit_gib", absl::StrCat(gib), "must be above 0 and at most 1048576");
  }
  return static_cast<int64_t>(std::llround(gib * kBytesPerGib));
}

}  // namespace meshwright::cli
